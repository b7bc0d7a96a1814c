# SPDX-License-Identifier: ISC
"""OpenTelemetry's profiles, decoded by protobuf's own decoder, and by classes
that it makes of the fields as opentelemetry-proto 1.11 publishes them
(profiles/v1development, with what that needs of common, resource and the
profiles service).  Also the rules that a receiver may rely on."""
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# name: type, * repeated; a type of our own is another message
FIELDS = {
    'ProfilesData': '*ResourceProfiles resource_profiles 1, '
                    'ProfilesDictionary dictionary 2',
    'ProfilesDictionary': '*Mapping mapping_table 1, '
        '*Location location_table 2, *Function function_table 3, '
        '*Link link_table 4, *string string_table 5, '
        '*KeyValueAndUnit attribute_table 6, *Stack stack_table 7',
    'ResourceProfiles': 'Resource resource 1, *ScopeProfiles scope_profiles 2, '
        'string schema_url 3',
    'Resource': '*KeyValue attributes 1, uint32 dropped_attributes_count 2',
    'KeyValue': 'string key 1, AnyValue value 2',
    'AnyValue': 'string string_value 1, bool bool_value 2, int64 int_value 3, '
        'double double_value 4, bytes bytes_value 7',
    'ScopeProfiles': 'InstrumentationScope scope 1, *Profile profiles 2, '
        'string schema_url 3',
    'InstrumentationScope': 'string name 1, string version 2, '
        '*KeyValue attributes 3, uint32 dropped_attributes_count 4',
    'Profile': 'ValueType sample_type 1, *Sample samples 2, '
        'fixed64 time_unix_nano 3, uint64 duration_nano 4, '
        'ValueType period_type 5, int64 period 6, bytes profile_id 7, '
        'uint32 dropped_attributes_count 8, '
        'string original_payload_format 9, bytes original_payload 10, '
        '*int32 attribute_indices 11',
    'Link': 'bytes trace_id 1, bytes span_id 2',
    'ValueType': 'int32 type_strindex 1, int32 unit_strindex 2',
    'Sample': 'int32 stack_index 1, *int32 attribute_indices 2, '
        'int32 link_index 3, *int64 values 4, '
        '*fixed64 timestamps_unix_nano 5',
    'Mapping': 'uint64 memory_start 1, uint64 memory_limit 2, '
        'uint64 file_offset 3, int32 filename_strindex 4, '
        '*int32 attribute_indices 5',
    'Stack': '*int32 location_indices 1',
    'Location': 'int32 mapping_index 1, uint64 address 2, *Line lines 3, '
        '*int32 attribute_indices 4',
    'Line': 'int32 function_index 1, int64 line 2, int64 column 3',
    'Function': 'int32 name_strindex 1, int32 system_name_strindex 2, '
        'int32 filename_strindex 3, int64 start_line 4',
    'KeyValueAndUnit': 'int32 key_strindex 1, AnyValue value 2, '
        'int32 unit_strindex 3',
    'ExportProfilesServiceResponse':
        'ExportProfilesPartialSuccess partial_success 1',
    'ExportProfilesPartialSuccess': 'int64 rejected_profiles 1, '
        'string error_message 2',
}


def classes():
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name='otlp.proto', package='otlp', syntax='proto3')
    for name, fields in FIELDS.items():
        message = file.message_type.add(name=name)
        for field in fields.split(', '):
            kind, label, number = field.split()
            one = message.field.add(name=label, number=int(number))
            one.label = kinds.LABEL_REPEATED if kind[0] == '*' else \
                kinds.LABEL_OPTIONAL
            kind = kind.lstrip('*')
            if kind in FIELDS:
                one.type = kinds.TYPE_MESSAGE
                one.type_name = '.otlp.' + kind
            else:
                one.type = getattr(kinds, 'TYPE_' + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    make = getattr(message_factory, 'GetMessageClass', None) or \
        message_factory.MessageFactory(pool).GetPrototype
    return {name: make(pool.FindMessageTypeByName('otlp.' + name))
            for name in FIELDS}


CLASSES = classes()


def unknown(message):
    """Are there fields that the published message has not?"""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return known.ByteSize() != message.ByteSize()


def decode(data, name='ProfilesData'):
    message = CLASSES[name]()
    message.ParseFromString(data)
    assert not unknown(message), 'unknown fields'
    return message


def check(data):
    """What the published comments demand of the dictionary."""
    d = data.dictionary
    tables = {
        'mapping': d.mapping_table, 'location': d.location_table,
        'function': d.function_table, 'link': d.link_table,
        'attribute': d.attribute_table, 'stack': d.stack_table,
    }
    assert d.string_table[0] == '', 'string 0 is not empty'
    assert len(set(d.string_table)) == len(d.string_table), 'equal strings'
    for name, table in tables.items():
        assert table[0].ByteSize() == 0, f'{name} 0 is not empty'
        whole = [m.SerializeToString(deterministic=True) for m in table]
        if name != 'location':      # two inlined chains may end alike
            assert len(set(whole)) == len(whole), f'equal elements: {name}'

    def inside(n, table):
        assert 0 <= n < len(table), 'an index outside of its table'
    for m in d.mapping_table:
        inside(m.filename_strindex, d.string_table)
    for f in d.function_table:
        inside(f.name_strindex, d.string_table)
        inside(f.system_name_strindex, d.string_table)
        inside(f.filename_strindex, d.string_table)
    for o in d.location_table:
        inside(o.mapping_index, d.mapping_table)
        for line in o.lines:
            inside(line.function_index, d.function_table)
    for s in d.stack_table:
        for n in s.location_indices:
            assert 0 < n < len(d.location_table)
    for owner in list(d.mapping_table) + list(d.location_table):
        for n in owner.attribute_indices:
            assert 0 < n < len(d.attribute_table)
    for a in d.attribute_table[1:]:
        inside(a.key_strindex, d.string_table)
        assert a.value.ByteSize() > 0 and a.key_strindex > 0
    for profile in profiles(data):
        seen = set()
        for s in profile.samples:
            inside(s.stack_index, d.stack_table)
            for n in s.attribute_indices:
                assert 0 < n < len(d.attribute_table)
            identity = (s.stack_index, tuple(s.attribute_indices),
                        s.link_index)
            assert identity not in seen, 'a sample twice'
            seen.add(identity)
            assert s.values or s.timestamps_unix_nano, 'a sample of nothing'


def profiles(data):
    return [p for r in data.resource_profiles for s in r.scope_profiles
            for p in s.profiles]


def attributes(data, owner):
    d = data.dictionary
    return {d.string_table[d.attribute_table[n].key_strindex]:
            d.attribute_table[n].value.string_value
            for n in owner.attribute_indices}


def resource(data):
    return {a.key: a.value.string_value for r in data.resource_profiles
            for a in r.resource.attributes}


def type_of(data, profile):
    strings = data.dictionary.string_table
    return (strings[profile.sample_type.type_strindex],
            strings[profile.sample_type.unit_strindex])


def frames(data, sample):
    """Names from the root to the leaf, with what was inlined."""
    d = data.dictionary
    names = []
    for n in d.stack_table[sample.stack_index].location_indices:
        for line in d.location_table[n].lines:
            f = d.function_table[line.function_index]
            names.append(d.string_table[f.name_strindex])
    return names[::-1]
