# SPDX-License-Identifier: ISC
#
# The renames of commit 25d7638 and after, in one table: what turns the
# outputs for programs (JSON and CSV) and the options as they were into what
# they are.  report/renames-are-in-one-table applies it to what is kept of
# then in report/before/.

# Options: COMMAND option [value], as report/before/options has them.
s/^record --path PATH$/record --backend BACKEND/
s/^record --path /record --backend /
s/\(-between\) MARK,MARK$/\1 MARKER,MARKER/
s/^script --show marks$/script --show markers/
s/^script --show lives$/script --show process-events/
s/^script --show maps$/script --show mapping-events/
s/^bench -i --ignore-failure$/bench --ignore-failure/
s/^mark -p --pid RECORDER_PID$/mark --recorder PID/

# All of --json but script's lines.
s/^{"schema_version":1,/{"schema_version":2,/

# report --json: how it was recorded, and what beside samples.
s/\("in_progress":[a-z]*,\)"path":/\1"backend":/
s/"lives":\([0-9]*\),"mappings":\([0-9]*\),"marks":\([0-9]*\)/"process_events":\1,"mapping_events":\2,"markers":\3/
s/"side_band_lost":/"sideband_lost":/
s/"side_lost":/"sideband_lost":/

# report --json: accounting[], then quality_by_event[].
s/"late":\([0-9]*,"missed":\)/"overruns":\1/
s/"hidden":\([0-9]*,"balances":\)/"unaccounted_excess":\1/
s/"hidden":\([0-9.]*,"throttled":\)/"unaccounted":\1/

# script --json: types of records, and frames without a function.
s/^{"type":"mark",/{"type":"marker",/
s/^{"type":"turns",/{"type":"multiplexed",/
s/{"function":null,"unnamed":/{"function":null,"unresolved":/g

# report --stats --json, and what was imported.
s/\("in_progress":[a-z]*,\)"backend":null/\1"backend":"import"/
s/^"names":{"samples":/"symbols":{"samples":/

# doctor --json.
s/\("record":{.*,\)"path":/\1"backend":/
s/"state":"less"/"state":"degraded"/
s/"state":"no"/"state":"failed"/
s/"cure":\("\([^"\\]\|\\.\)*"\),"lost":/"fix":\1,"affects":/

# compare --json: whether a function is there, inlined or by itself.
s/\("presence":\[[^]]*\)"whole"/\1"out_of_line"/
s/\("presence":\[[^]]*\)"whole"/\1"out_of_line"/

# annotate --json and --csv: of which recording a figure is.
s/"side":"\(base\|new\)"/"recording":"\1"/g
s/^kind,file,line,address,text,inlined_at,event,unit,side,/kind,file,line,address,text,inlined_at,event,unit,recording,/
