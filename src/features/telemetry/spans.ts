import { type HrTime, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { EndedCall } from '../../call/ended-call.ts';

/**
 * Writes the span of a call, with a child for each step. Their durations are measured; they lie one after the other in the order in
 * which the steps began. `tool` is a name that a tool has. Returns the number of spans; 0 if the caller does not want this trace.
 */
export function traceCall(tracer: Tracer, call: EndedCall, tool: string, project: string): number {
  const remote = call.traceParent === undefined ? null : parseTraceParent(call.traceParent);
  const parent = remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
  const attributes = {
    'contextd.tool': tool,
    'contextd.door': call.door,
    'contextd.project': project,
    'contextd.exit_code': call.exitCode,
    'contextd.answer.tokens': call.tokens,
    'contextd.answer.bytes': call.bytes,
    ...(call.errorCode === null ? {} : { 'error.type': call.errorCode }),
  };
  const startUs = call.startedMs * 1000;
  const span = tracer.startSpan(
    `call ${tool}`,
    { kind: SpanKind.SERVER, startTime: hrTime(startUs), attributes },
    parent,
  );
  if (!span.isRecording()) return 0;
  if (call.errorCode !== null) span.setStatus({ code: SpanStatusCode.ERROR });
  const inside = trace.setSpan(parent, span);
  let atUs = startUs;
  const steps = Object.entries(call.times);
  for (const [name, us] of steps) {
    const step = tracer.startSpan(name.replace(/_us$/, ''), { startTime: hrTime(atUs) }, inside);
    atUs += us;
    step.end(hrTime(atUs));
  }
  span.end(hrTime(atUs));
  return steps.length + 1;
}

/** A number alone could mean a time since the start of the process. */
export function hrTime(us: number): HrTime {
  const seconds = Math.floor(us / 1_000_000);
  return [seconds, Math.round((us - seconds * 1_000_000) * 1000)];
}
