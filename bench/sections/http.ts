import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type BenchInstallation, installForBench } from '../lib/machine.ts';
import { spreadOf } from '../lib/measure.ts';
import { makeNoopRoot } from '../lib/noop-installation.ts';
import type { Fact, Section } from '../lib/section.ts';

const AT_ONCE = 16;
const CALLS = 400;
const ROUNDS = 9;
const WARM_UP_ROUNDS = 2;

interface Contender {
  name: string;
  url: string;
  token: string;
  body: string;
}

/** Calls a second through the HTTP door, beside the bare server of its framework. Every answer is checked. */
export const httpSection: Section = {
  async run() {
    const noop = await makeNoopRoot();
    const bare = fork(fileURLToPath(new URL('../lib/bare-http-main.js', import.meta.url)));
    try {
      const at = await installForBench({ 'http.enabled': true }, noop.root);
      try {
        return { tables: [], facts: await compare(at, bare) };
      } finally {
        await at.remove();
      }
    } finally {
      bare.kill();
      await noop.remove();
    }
  },
};

async function compare(at: BenchInstallation, bare: ChildProcess): Promise<Fact[]> {
  const [port] = await once(bare, 'message');
  const url = (await at.ctxd('http', 'url')).trim();
  const token = (await at.ctxd('http', 'token')).trim();
  const body = JSON.stringify({ project: at.project, input: {} });
  const contenders: Contender[] = [
    { name: 'bare server of the framework', url: `http://127.0.0.1:${port}/execute`, token, body },
    { name: 'a tool that does nothing, through the door', url: `${url}/v1/tools/noop/execute`, token, body },
  ];
  const rates = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    for (const contender of contenders) {
      const perSecond = await flood(contender);
      if (round >= 0) rates.get(contender.name)?.push(perSecond);
    }
  }
  const [base = 0, door = 0] = contenders.map(({ name }) => spreadOf(rates.get(name) ?? []).medianMs);
  return [
    ...contenders.map(({ name }, index) => ({
      name: `${name}: calls a second, ${AT_ONCE} at a time, median of ${ROUNDS} rounds of ${CALLS}`,
      value: Math.round([base, door][index] ?? 0),
    })),
    { name: 'ratio', value: (door / base).toFixed(3) },
  ];
}

/** Calls a second over `AT_ONCE` connections that stay open. */
async function flood(contender: Contender): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let left = CALLS;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left > 0) {
        left -= 1;
        const text = await post(contender, agent);
        if (!text.startsWith('{"success":true')) throw new Error(`${contender.name} answered ${text}`);
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  agent.destroy();
  return CALLS / seconds;
}

function post({ url, token, body }: Contender, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
