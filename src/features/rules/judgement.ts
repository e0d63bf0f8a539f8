import type { Input } from './inputs.ts';
import type { RuleClient } from './rule.ts';

/** A text that a call gives to a shell. */
export interface JudgedText {
  readonly text: string;
  readonly input: Input;
  /** True if a client compared the words of the text with its rules before. It asked about them if one asks. */
  readonly isSeen: boolean;
}

/** A rule and the command inside that it covers. */
export interface RuledCommand {
  readonly client: RuleClient;
  readonly rule: string;
  readonly file: string;
  /** For a person. */
  readonly command: string;
}

export interface Judgement {
  /** The first command that a rule denies. */
  readonly denied: RuledCommand | null;
  /** One for each rule that asks, with the first command that it covers. */
  readonly asked: readonly RuledCommand[];
  /** The first command that a rule denies or asks about if its unknown words are those of the rule. */
  readonly unseen: RuledCommand | null;
}

export const NO_RULE: Judgement = { denied: null, asked: [], unseen: null };
