import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findInstallRoot } from '../../src/config/install-root.ts';

/** Counts the tokens of a text in cl100k_base. */
export type Count = (text: string) => number;

/**
 * Our encoder, and the encoders of others without tuning. All of them count the text of special tokens as plain text.
 */
export const ENCODERS = ['contextd', 'gpt-tokenizer', 'tiktoken', 'js-tiktoken'] as const;
export type EncoderName = (typeof ENCODERS)[number];

interface GptTokenizer {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

interface Encoding {
  encode(text: string, allowedSpecial: string[], disallowedSpecial: string[]): ArrayLike<number>;
}

/** Throws if the encoder is not installed. */
export async function loadEncoder(name: EncoderName): Promise<Count> {
  if (name === 'contextd') {
    const counter = (await import('../../src/tokens/counter.ts')).loadCounter();
    return (text) => counter.count(text);
  }
  const load = createRequire(join(findInstallRoot(), 'bench', 'peers', 'package.json'));
  switch (name) {
    case 'gpt-tokenizer': {
      const tokenizer: GptTokenizer = load('gpt-tokenizer/encoding/cl100k_base');
      const options = { disallowedSpecial: new Set<string>() };
      return (text) => tokenizer.countTokens(text, options);
    }
    case 'tiktoken': {
      const encoding: Encoding = load('tiktoken').get_encoding('cl100k_base');
      return (text) => encoding.encode(text, [], []).length;
    }
    case 'js-tiktoken': {
      const encoding: Encoding = load('js-tiktoken').getEncoding('cl100k_base');
      return (text) => encoding.encode(text, [], []).length;
    }
  }
}
