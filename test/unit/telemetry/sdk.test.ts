import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EndedCall } from '#src/call/ended-call.js';
import { silentLogger } from '#src/core/log.js';
import { Delivery } from '#src/features/telemetry/delivery.js';
import { type OpenSdk, openSdk } from '#src/features/telemetry/sdk.js';
import { OtlpCollector } from '../../helpers/otlp-collector.ts';

const STEPS = ['identify_us', 'verify_us', 'run_us', 'scrub_us', 'audit_us'];
const CALL: EndedCall = {
  tool: 'safe_bash',
  door: 'grpc',
  projectRoot: '/project',
  errorCode: null,
  exitCode: 0,
  tokens: 1,
  bytes: 1,
  startedMs: Date.UTC(2000, 0, 1),
  times: Object.fromEntries(STEPS.map((step, index) => [step, index * 1000])),
};
/** Spans that wait at most. */
const SPANS_MAX = 8_192;
const FIT = Math.floor(SPANS_MAX / (STEPS.length + 1));

let collector: OtlpCollector;
let delivery: Delivery;
let sdk: OpenSdk;
beforeEach(async () => {
  collector = new OtlpCollector();
  delivery = new Delivery({ place: 'collector', clock: { now: () => 0 }, logger: silentLogger });
  sdk = openSdk({
    url: await collector.open(),
    version: '1',
    metricsMs: 3_600_000,
    delivery,
    headers: async () => ({}),
    figures: () => ({
      ...{ tools: [], steps: [], tokensRun: 0, tokensReturned: 0, secretsFound: 0, scrubMs: 0, fromCache: 0 },
      ...{ callsRunning: 0, callsWaiting: 0, residentBytes: 0, startedMs: 0 },
    }),
    now: () => 0,
    isTool: (name) => name === 'safe_bash',
    projectName: () => 'p',
  });
});
afterEach(async () => {
  collector.release();
  await sdk.close();
  await collector.close();
});

const rootSpans = () => collector.spans().filter(({ name }) => name.startsWith('call '));

describe('traces of calls', () => {
  it('NFR-1.4 that a collector does not take are bounded: the calls beyond are dropped whole, and counted', async () => {
    collector.mode = 'hang';
    for (let n = 0; n < FIT + 500; n++) sdk.ended(CALL);
    expect(delivery.state().dropped).toBe(500);
    await expect.poll(() => collector.untaken).toBe(1);
    collector.mode = 'take';
    collector.release();
    await expect.poll(() => rootSpans().length, { timeout: 60_000 }).toBeGreaterThan(FIT - 200);
    sdk.ended(CALL);
    expect(delivery.state().dropped).toBe(500);
  });

  it('NFR-1.4 are not written for a caller whose traceparent says that it does not record', async () => {
    const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    for (let n = 0; n < FIT + 500; n++) sdk.ended({ ...CALL, traceParent: `00-${trace}-${span}-00` });
    sdk.ended({ ...CALL, traceParent: `00-${trace}-${span}-01` });
    await expect.poll(() => rootSpans().length).toBe(1);
    expect(rootSpans()[0]).toMatchObject({
      traceId: trace,
      parentSpanId: span,
      startTimeUnixNano: '946684800000000000',
    });
    expect(delivery.state().dropped).toBe(0);
  });
});
