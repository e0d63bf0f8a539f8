import type { RulesReview } from '../protocol/generated/contextd/v1/RulesReview.ts';
import type { SessionSecretsResponse } from '../protocol/generated/contextd/v1/SessionSecretsResponse.ts';
import type { StatsRow as WireStatsRow } from '../protocol/generated/contextd/v1/StatsRow.ts';
import type { RulesReviewResult, SessionSecrets, StatsRow } from './door.ts';

// What is told of secrets and rules, as messages of management.proto, field by field.

export function toSessionSecrets({ root, session, secrets }: SessionSecrets): Required<SessionSecretsResponse> {
  return {
    root,
    session,
    secrets: secrets.map((secret) => ({
      token: secret.token,
      rule: secret.rule,
      kind: secret.kind,
      tool: secret.tool ?? '',
      first_seen_ms: secret.firstSeenAt,
      uses: secret.uses,
      opened: secret.opened,
      last_opened_ms: secret.lastOpenedAt ?? 0,
    })),
  };
}

export function toStatsRow(row: StatsRow): Required<WireStatsRow> {
  return {
    day: row.day,
    project: row.project,
    session: row.session,
    tool: row.tool,
    calls: row.calls,
    failed: row.failed,
    secrets: row.secrets,
    missed_by_first_pass: row.missedByFirstPass,
    missed_by_engine: row.missedByEngine,
    duration_ms: row.durationMs,
    scrub_ms: row.scrubMs,
    follow_ups: row.followUps,
    counted_calls: row.countedCalls,
    estimated_calls: row.estimatedCalls,
    tokens_run: row.tokensRun,
    tokens_returned: row.tokensReturned,
    tokens_saved: row.tokensSaved,
    artifacts: row.artifacts,
    truncated: row.truncated,
    timed_calls: row.timedCalls,
    added_ms: row.addedMs,
  };
}

export function toRulesReview(review: RulesReviewResult): Required<RulesReview> {
  return {
    path: review.path,
    sha256: review.sha256 ?? '',
    approved: review.approved,
    rules: review.rules,
    allowances: [...review.allowances],
    fault: review.fault ?? '',
  };
}
