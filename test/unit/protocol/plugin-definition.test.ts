import { join } from 'node:path';
import { loadPackageDefinition, type ServiceClientConstructor, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { describe, expect, it } from 'vitest';
import { loadProtocol } from '#src/protocol/load.js';
import { LOAD_OPTIONS, PLUGIN_PROTO_FILES, PROTO_FILES } from '#src/protocol/load-clients.js';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';

const SAMPLES: readonly object[] = [
  {},
  { host_service_id: 4_294_967_295, protected_paths: ['.git/hooks', ''] },
  { call_id: 'c', input_json: Buffer.from('{"a":1}'), timeout_ms: 300_000, output_max_bytes: 2 ** 40 },
  { scanning: { chars: 7 } },
  {
    output: {
      data_json: Buffer.from('{}'),
      streams: [{ field: 'stdout', text: 'ü\0' }],
      first_pass: [{ spans: [{ rule: 'r', start: 0, end: 3 }] }, {}],
      warnings: ['w'],
      failure: { code: 'TIMEOUT' },
    },
  },
  { command: 'true', env: { A: 'b', __proto: 'c' }, stdin: Buffer.alloc(0) },
  { exit_code: 0, stdout: 'x', encoding_replaced: true },
  { exit_code: -1 },
  { service_id: 3, network: 'unix', address: '/a', knock: { knock: true, error: 'e' } },
  { channel: 2, data: Buffer.from([0, 255]) },
  { status: 1 },
  { call_id: 'c', reason: 2 },
  { tool: 't', context: { request_id: 'r', project_root: '/p' } },
  { pid: 7, uptime_ms: 2 ** 40, resident_bytes: 1, sandbox: { preparing: 1 } },
];

function fromFiles(name: string): ServiceClientConstructor {
  const includeDirs = [join(import.meta.dirname, '..', '..', '..', 'proto')];
  const loaded: unknown = loadPackageDefinition(
    loadSync([...PLUGIN_PROTO_FILES, ...PROTO_FILES], { ...LOAD_OPTIONS, includeDirs }),
  );
  return name.split('.').reduce<unknown>((found, part) => Object(found)[part], loaded) as ServiceClientConstructor;
}

type Method = ServiceDefinition[string];

/** The bytes and what they are read as; or the refusal of a value whose field has another type in this message. */
function roundTrips(method: Method, sample: object): unknown[] {
  return [
    () => method.requestDeserialize(method.requestSerialize(sample)),
    () => method.requestSerialize(sample),
    () => method.responseDeserialize(method.responseSerialize(sample)),
    () => method.responseSerialize(sample),
  ].map((step) => {
    try {
      return step();
    } catch (thrown) {
      return String(thrown);
    }
  });
}

describe('the definitions that are part of the program', () => {
  const names = {
    ToolPlugin: 'contextd.v1.ToolPlugin',
    ToolHost: 'contextd.v1.ToolHost',
    GRPCBroker: 'plugin.GRPCBroker',
    GRPCController: 'plugin.GRPCController',
    GRPCStdio: 'plugin.GRPCStdio',
    Health: 'grpc.health.v1.Health',
    ToolService: 'contextd.v1.ToolService',
    ManagementService: 'contextd.v1.ManagementService',
  } as const;
  const protocol = { ...loadPluginProtocol(), ...loadProtocol() };

  it.each(Object.keys(names))('agree for %s with its .proto file', (key) => {
    const name = Object.entries(names).find(([known]) => known === key)?.[1] ?? '';
    const own: ServiceDefinition = Object.entries(protocol).find(([known]) => known === key)?.[1].service ?? {};
    const reference = fromFiles(name).service;
    expect(Object.keys(own)).toEqual(Object.keys(reference));
    for (const [method, expected] of Object.entries(reference)) {
      const found = own[method];
      if (found === undefined) throw new Error(`${name} has no ${method}`);
      const shape = ({ path, requestStream, responseStream, originalName }: typeof found) => ({
        path,
        requestStream,
        responseStream,
        originalName,
      });
      expect(shape(found)).toEqual(shape(expected));
      for (const sample of SAMPLES) {
        const [right, own] = [expected, found].map((one) => roundTrips(one, sample));
        expect(own).toEqual(right);
      }
    }
  });

  it('report which field of a oneof is set, and leave out an unset optional field', () => {
    const { Call } = protocol.ToolPlugin.service;
    const event = Call.responseDeserialize(Call.responseSerialize({ findings: { leaves: [] } }));
    expect(event).toEqual({ event: 'findings', findings: { leaves: [] } });
    const { Exec } = protocol.ToolHost.service;
    expect(Exec.responseDeserialize(Exec.responseSerialize({}))).not.toHaveProperty('exit_code');
    expect(Exec.responseDeserialize(Exec.responseSerialize({ exit_code: 0 }))).toHaveProperty('exit_code', 0);
  });
});
