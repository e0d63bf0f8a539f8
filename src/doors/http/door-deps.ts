import type { HttpStanding } from '../../call/http-standing.ts';
import type { Figures, LiveFeed } from '../../call/live.ts';
import type { PassingRequests } from '../../call/passing.ts';
import type { Paths } from '../../config/paths.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { ContextdError } from '../../core/errors.ts';
import type { TokenGrant } from '../../core/permissions.ts';
import type { Management } from '../../protocol/management-contract.ts';
import type { AnswerDeps } from '../receive-call.ts';
import type { HttpLimits } from './hardening.ts';

export interface HttpDoorDeps extends AnswerDeps {
  config: Config['http'];
  paths: Pick<Paths, 'httpPortFile'>;
  management: Management;
  tokens: {
    /** What a token grants, compared in constant time. Null for one that is unknown or has expired. */
    find(token: string): TokenGrant | null;
    /** False once it was revoked or replaced, or has expired. */
    isValid(grant: TokenGrant): boolean;
  };
  /** The key with which the daemon proves itself to the holder of a token; '' means the daemon's own client. */
  proofKey(tokenId: string): Buffer;
  /** The line of JSON with which a request is answered that no call came of. */
  refusalLine(why: ContextdError): string;
  feed: LiveFeed;
  passing: PassingRequests;
  figures(): Figures;
  /** Connections of the other doors, by door. */
  otherConnections(): Readonly<Record<string, number>>;
  clock: Clock;
  /** Overrides HTTP_LIMITS. */
  limits?: Partial<HttpLimits>;
}

/** A door that listens. */
export interface OpenHttp extends Pick<HttpStanding, 'certificateSha256'> {
  at: NonNullable<HttpStanding['at']>;
  /** Accepts no more requests. Running calls are interrupted, and their answers are still sent. */
  close(): Promise<void>;
  /** Accepts no more connections. */
  leave(): void;
}
