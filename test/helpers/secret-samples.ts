import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { B64, HEX, type RuleSamples, UUID } from './sample-patterns.ts';

export { generate, generateSample, seededRandom } from './sample-patterns.ts';

/** The samples of every rule of the pack, by id. Each file of secret-samples/ exports some of them as `samples`. */
export const RULE_SAMPLES: Readonly<Record<string, RuleSamples>> = await collectSamples();

async function collectSamples(): Promise<Record<string, RuleSamples>> {
  const folder = join(import.meta.dirname, 'secret-samples');
  const all: Record<string, RuleSamples> = {};
  for (const name of readdirSync(folder).filter((entry) => entry.endsWith('.ts'))) {
    const file: SampleFile = await import(join(folder, name));
    for (const [id, samples] of Object.entries(file.samples)) {
      if (all[id] !== undefined) throw new Error(`${name}: another file has samples for ${id} too`);
      all[id] = samples;
    }
  }
  return all;
}

interface SampleFile {
  samples: Readonly<Record<string, RuleSamples>>;
}

/** Ordinary texts in which no rule may find anything. */
export const CLEAN_TEXTS: readonly string[] = [
  'const token = readToken(x);',
  'api_key="function"',
  'token: string',
  'password: required',
  'export interface Login { password: string; token?: string; apiKey: ApiKey }',
  'password=<your-token>',
  'TOKEN=$\\{TOKEN}',
  'TOKEN=$TOKEN',
  'apiKey: process.env.X',
  'const apiKey = process.env.API_KEY ?? "";',
  'DB_PASSWORD=****',
  'API_KEY=\\[SECRET_3\\]',
  'password: \\[SECRET_3\\]',
  '{"password":"\\[SECRET_3\\]"}',
  'API_KEY=\\[SECRET\\]',
  `"integrity": "sha512-${B64}{86}==",`,
  `"resolved": "https://registry.example.com/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz",`,
  `commit ${HEX}{40}`,
  `index ${HEX}{7}..${HEX}{7} 100644`,
  `id: ${UUID}`,
  `sha256:${HEX}{64}`,
  `${HEX}{64}  contextd.tar.gz`,
  'The token budget of the answer is 2000 tokens; 1536 tokens are left.',
  'Enter password for user root: ',
  "error TS2322: Type 'Token' is not assignable to type 'string'.",
  'PWD=/home/me\nOLDPWD=/\nSSH_AUTH_SOCK=/tmp/agent.1\nLANG=C.UTF-8',
  'drwxr-xr-x 2 me me 4096 Jan  1 00:00 secrets',
  'grep -rn "password" src | head -20',
  'keyboard: us, monkey: 1, tokenizer: cl100k_base',
  'if (token === null || password.length < 8) throw new Error("bad token");',
  'Authorization: Bearer <token>',
  'https://github.com/owner/repo/blob/main/src/token.ts#L10',
];
