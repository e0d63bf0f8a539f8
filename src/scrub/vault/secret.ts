import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type { SecretSummary } from './secret-summary.ts';

/** Issues the numbers of a session's secrets. The counter survives daemon restarts; the values do not. */
export interface NumberStore {
  next(session: SessionRef): Promise<number> | number;
  /** Highest number issued to a secret of the session; 0 if there was none. */
  last(session: SessionRef): Promise<number> | number;
}

/** Remembers the numbers of values that cannot be guessed, also after the vault is gone. */
export interface NumberMemory {
  recall(session: SessionRef, value: string): Promise<number | null>;
  keep(session: SessionRef, value: string, number: number): Promise<void>;
}

/** A value that gets a number. */
export interface Unnumbered {
  value: string;
  rule: string;
  /** False for a token of one spelling, beside the one of the value. */
  isWhole: boolean;
}

/** A value known to be secret. */
export interface KnownSecret {
  rule: string;
  value: string;
  /** The secrets encoded in the value, if it contains nothing else. Default: the value itself is a secret. */
  inner?: readonly string[] | undefined;
}

export interface SecretUse {
  token: string;
  rule: string;
}

/** Facts about a secret besides its text. */
export interface SecretContext {
  /** The known value that the text is a form of (its base64, a piece of it). Default: the text is the value. */
  of?: string | undefined;
  /** The tool in whose answer it occurs. Default: none. */
  tool?: string | undefined;
  /** Milliseconds since the epoch. Default: 0. */
  time?: number | undefined;
  /** The call in whose answer it occurs. Default: none. */
  call?: SecretCall | undefined;
}

/** The call in whose answer a secret first occurred. */
export interface SecretCall {
  requestId: string;
  /** Start of its input. */
  input: string;
}

/** The details of a secret that a person may see. */
export interface RevealedSecret {
  summary: SecretSummary;
  value: string;
  call: SecretCall | null;
}

export function unknownSecret(digits: string): ContextdError {
  return new ContextdError('SECRET_UNKNOWN', `[SECRET_${digits}] is not a secret of this session`, {
    remedy:
      'Use a token from an answer of this session; after a stop or a crash of the daemon, read the source again first. To write this text literally, put a backslash before its underscore.',
    details: { token: `[SECRET_${digits}]` },
    token: `[SECRET_${digits}]`,
  });
}
