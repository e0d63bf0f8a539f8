import type { Json, JsonObject } from '../../core/json.ts';
import type { ServiceAnswer } from '../../runner/host-methods.ts';
import type { Job } from './job.ts';

/** What is known of a job; its output is shown beside it. */
export function factsOf({ spec, end, output }: Job): JsonObject {
  if (end === null) {
    const { heldBytes } = output;
    return { job: spec.number, state: 'running', ...(heldBytes > 0 ? { held_bytes: heldBytes } : {}) };
  }
  const { exitCode, signal, endedBy, failure, notices } = end;
  return {
    job: spec.number,
    state: 'ended',
    ...(exitCode === null ? {} : { exited_with: exitCode }),
    ...(endedBy === 'exit' ? {} : { ended_by: endedBy }),
    ...(endedBy === 'signal' && signal !== null ? { signal } : {}),
    ...(notices.length === 0 ? {} : { notices: [...notices] }),
    ...(failure === null && endedBy === 'killed' ? { error: 'CANCELLED: a person ended it with ctxd kill' } : {}),
    ...(failure === null ? {} : { error: `${failure.code}: ${failure.message}` }),
  };
}

/** The job with its newest output. */
export async function shown(job: Job, facts: JsonObject = {}, view: Json = 'tail'): Promise<ServiceAnswer> {
  if (job.end === null) await job.output.refresh();
  const activity = await job.activity();
  const doing = activity?.needsInput === true ? { doing: activity.text } : {};
  return { answer: { ...factsOf(job), ...doing, ...facts }, shows: job.output.artifactId, standardView: view };
}
