/** What `ctxd session secrets` shows of one secret: nothing of its value, nor how long or how random it is. */
export interface SecretSummary {
  /** `[SECRET_1]`. */
  token: string;
  /** Id of the rule, or of the source of a seed, that knew it first. */
  rule: string;
  kind: SecretKind;
  /** In whose answer it showed first; null if that was no tool's. */
  tool: string | null;
  /** Milliseconds since the epoch. */
  firstSeenAt: number;
  /** How often it was masked. */
  uses: number;
  /** In how many calls it was put in the place of its token. */
  opened: number;
  /** Milliseconds since the epoch; null: never. */
  lastOpenedAt: number | null;
}

type SecretKind = 'private key' | 'password' | 'key' | 'token' | 'secret';

/** The first that fits the rule's id. */
const KINDS: readonly [RegExp, SecretKind][] = [
  [/private-key|pem\b/, 'private key'],
  [/passw|pgpass|netrc|credential/, 'password'],
  [/token|bearer|jwt|authorization|cookie/, 'token'],
  [/key/, 'key'],
];

/** The kind of a secret, by the id of the rule that found it. */
export function kindOf(rule: string): SecretKind {
  return KINDS.find(([pattern]) => pattern.test(rule))?.[1] ?? 'secret';
}
