import { join } from 'node:path';
import { findInstallRoot } from '../../src/config/install-root.ts';
import { findSecrets } from '../../src/scrub/find-secrets.ts';
import type { Finding } from '../../src/scrub/finding.ts';
import type { ScrubEngine } from '../../src/scrub/hardened/engine.ts';
import { Vault } from '../../src/scrub/vault/vault.ts';
import type { Figure } from './section.ts';

/** Sessions made by each generator. */
const SESSIONS_EACH = 12;
const SEED = 20_261_128;
/** Shares of the secrets of a kind that must be masked, and most wrong spans of a hundred sessions. */
const MASKED_SHARE = 0.95;
const WRONG_IN_100 = 3;

type Random = () => number;

interface Session {
  texts: readonly string[];
}

interface Kind {
  name: string;
  makers: Readonly<Record<string, (random: Random) => Session | Promise<Session>>>;
}

/** The generators belong to the tests. They run from their source, because a build has no tests. */
interface TestKinds {
  KINDS: readonly Kind[];
  withoutMarks(marked: string): { text: string; secrets: readonly { start: number; end: number }[] };
  seededRandom(seed: number): Random;
}

/** What a kind counts to. */
export interface KindCount {
  sessions: number;
  secrets: number;
  masked: number;
  wrong: number;
  /** By generator: what was missed or wrongly masked in one of its sessions, for people. */
  misses: Map<string, string[]>;
}

/** For each kind of mistake: how many secrets of generated sessions are masked, and how many spans are wrong. */
export async function kindFigures(engine: ScrubEngine): Promise<Figure[]> {
  const kinds = await testKinds();
  const figures: Figure[] = [];
  for (const kind of kinds.KINDS) {
    const { sessions, secrets, masked, wrong } = await countKind(engine, kind, kinds);
    const mostWrong = Math.floor((WRONG_IN_100 * sessions) / 100);
    const least = Math.ceil(MASKED_SHARE * secrets);
    figures.push(
      {
        name: `${kind.name}: wrong spans in ${sessions} sessions`,
        value: String(wrong),
        aim: `≤ ${mostWrong}`,
        isMet: wrong <= mostWrong,
        beside: '',
      },
      {
        name: `${kind.name}: masked`,
        value: `${masked} of ${secrets}`,
        aim: `≥ ${least}`,
        isMet: masked >= least,
        beside: '',
      },
    );
  }
  return figures;
}

export async function countKind(
  engine: ScrubEngine,
  { name, makers }: Kind,
  { withoutMarks, seededRandom }: Pick<TestKinds, 'withoutMarks' | 'seededRandom'>,
): Promise<KindCount> {
  const count: KindCount = { sessions: 0, secrets: 0, masked: 0, wrong: 0, misses: new Map() };
  for (const [at, [maker, make]] of Object.entries(makers).entries()) {
    const random = seededRandom(SEED + name.length * 1000 + at);
    for (let i = 0; i < SESSIONS_EACH; i++) {
      const { texts } = await make(random);
      count.sessions += 1;
      const vault = new Vault(() => 1);
      for (const { text, secrets } of texts.map(withoutMarks)) {
        const spans = await spansOf(engine, vault, text);
        const missed = secrets.filter((secret) => !spans.some((span) => isMasked(secret, span)));
        const wrong = spans.filter((span) => !isRight(span, secrets));
        count.secrets += secrets.length;
        count.masked += secrets.length - missed.length;
        count.wrong += wrong.length;
        const told = [
          ...missed.map(({ start, end }) => `missed ${shown(text, start, end)}`),
          ...wrong.map(({ rule, start, end }) => `wrong ${rule} ${shown(text, start, end)}`),
        ];
        if (told.length > 0) count.misses.set(maker, [...(count.misses.get(maker) ?? []), ...told]);
      }
    }
  }
  return count;
}

async function spansOf(engine: ScrubEngine, vault: Vault, text: string): Promise<readonly Finding[]> {
  const known = { vault, seeds: [], opened: [], workspace: null, own: new Set<number>(), allowance: null };
  const scanner = { scan: async (texts: readonly { text: string }[]) => texts.map((one) => engine.scan(one.text)) };
  const [leaf] = await findSecrets(known, text, scanner, { margins: new Map(), parts: new Map() });
  return leaf?.spans ?? [];
}

interface Place {
  start: number;
  end: number;
}

function isMasked(secret: Place, span: Place): boolean {
  return span.start <= secret.start && span.end >= secret.end;
}

/** Quotes, an end of a line or a short user name beside a secret may be masked with it. */
const MOST_BESIDE = 5;

/** Whether a span masks a secret, or a part of one, and next to nothing else. */
function isRight(span: Place, secrets: readonly Place[]): boolean {
  return secrets.some(
    ({ start, end }) =>
      span.start < end && span.end > start && span.start >= start - MOST_BESIDE && span.end <= end + MOST_BESIDE,
  );
}

function shown(text: string, start: number, end: number): string {
  const around = `${text.slice(Math.max(0, start - 50), start)}[[${text.slice(start, end)}]]${text.slice(end, end + 20)}`;
  return JSON.stringify(around.length > 260 ? `${around.slice(0, 180)}…${around.slice(-70)}` : around);
}

export async function testKinds(): Promise<TestKinds> {
  const helpers = join(findInstallRoot(), 'test', 'helpers');
  const names = ['scrub-kinds.ts', 'sample-patterns.ts'];
  return Object.assign({}, ...(await Promise.all(names.map((name) => import(join(helpers, name))))));
}
