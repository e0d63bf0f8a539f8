import type { HealthCheck__Output } from '../protocol/generated/management.ts';

// Management messages for rooms that know no protocol. Everything else imports the generated types.
export type { StatsRow__Output as StatsRow, ToolInfo__Output as ToolInfo } from '../protocol/generated/management.ts';

/** One line of `ctxd doctor`, as the daemon builds it. On the wire `status` is a plain string. */
export interface HealthCheck extends HealthCheck__Output {
  status: 'ok' | 'warn' | 'fail';
}
