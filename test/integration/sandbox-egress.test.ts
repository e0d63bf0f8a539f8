import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EgressEvent, type NetworkRule, scopeKey } from '#src/egress/messages.js';
import type { RunRef } from '#src/sandbox/sandbox.js';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

const SHARED = { network: 'project' } as const;

const ask = (host: string, proxy = '$HTTP_PROXY'): string =>
  `p=${proxy}; p=\${p#http://}; exec 3<>/dev/tcp/\${p%:*}/\${p#*:} && printf 'CONNECT ${host} HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n' >&3 && head -1 <&3`;

describe.each(whoCanRun())('the network of a project, %s', (who) => {
  let bench: Bench;
  const events: { event: EgressEvent; run: RunRef | null }[] = [];
  beforeAll(async () => {
    bench = await openBench(who, {}, (event, run) => void events.push({ event, run }));
  });
  afterAll(() => bench.close());

  test('try', async () => {
    const one = await bench.bash(`env | grep -i prox; cat /etc/resolv.conf; ls -l /proc/self/fd; time (${ask('evil.example.com:443')})`, {}, SHARED);
    console.log(one.out, one.err, one.raw.connections, one.raw.denied, one.durationMs);
    const two = await bench.bash(`time curl -sS https://evil.example.com/; time getent hosts foo.example.com; cat /proc/net/tcp`, {}, SHARED);
    console.log(two.out, two.err, two.raw.connections, two.raw.denied, two.durationMs);
    console.log(JSON.stringify(events));
  });
});
