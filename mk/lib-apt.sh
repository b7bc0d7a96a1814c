# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# Packages of other releases and machines, through a package state of our own:
# neither the lists nor the architectures of the host are touched.  Included by
# mk/guest-fetch.sh and tests/accept/lib-python.sh.

# A folder becomes such a state, which apt-get -c FOLDER/apt.conf asks; its
# sources.list is left to the caller.  Hooks of the host's configuration are
# dropped: they clean the host's caches.
apt_state()	# folder
{
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	: >"$1/status"
	cat >"$1/apt.conf" <<-END
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	Dir::State "$1";
	Dir::State::lists "$1/lists";
	Dir::State::status "$1/status";
	Dir::Cache "$1/cache";
	Dir::Etc::sourcelist "$1/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	END
	[ "$(id -u)" -ne 0 ] ||
	    echo 'APT::Sandbox::User "root";' >>"$1/apt.conf"
}
