import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ContextdError } from '#src/core/errors.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import { type Bench, openBench, whoCanRun } from '../../fixtures/sandbox-harness.ts';
import { countConnections } from '../../helpers/connection-counter.ts';
import { settle } from '../../helpers/settle-workspace.ts';
import { openToolRunner, sessionOf, type ToolRunner } from '../../helpers/tool-runner.ts';
import type { ProjectPlan } from '../git-shapes.ts';
import { Sentinels, useGit } from './host.ts';
import { makeTemplate, onHost, setUpPerson, sshConnections } from './person.ts';
import { scriptOf } from './script.ts';
import { type Commits, fill, locate, type Place, type Shape, type Step } from './shape.ts';

/** A shape that ran on the host. `at` is its number in the plan. */
export interface Fired {
  readonly at: number;
  readonly how: 'ran' | 'wrote outside' | 'connected' | 'hung' | 'blocked';
}

/** One way to make the files of a plan. */
export interface Planter {
  /** Makes a project, makes every call of the plan and lets the person use git. Returns what ran. */
  plant(plan: ProjectPlan): Promise<readonly Fired[]>;
  close(): Promise<void>;
}

/** Takes the steps of all shapes that have a call in this round. */
type TakeRound = (root: string, calls: readonly RoundCall[]) => Promise<void>;

interface RoundCall {
  readonly by: 'safe_bash' | 'safe_write';
  readonly steps: readonly Step[];
  readonly place: Place;
}

/** Without contextd: the host makes the same files itself. */
export async function openHostPlanter(): Promise<Planter> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-shapes-')));
  const takeRound: TakeRound = async (root, calls) => {
    for (const { steps, place } of calls) onHost(scriptOf(steps, place), root, home);
  };
  return planterIn(home, async () => ({ takeRound, close: async () => {} }), {
    close: async () => rmSync(home, { recursive: true, force: true }),
    hangsAfter: 5,
  });
}

/** Through the sandbox and the tool process of contextd, as with an agent's calls. */
export async function openContextdPlanter(): Promise<Planter> {
  const [who = 'ordinary user'] = whoCanRun();
  const bench = await openBench(who);
  return planterIn(bench.base, (root) => openCalls(bench, root), { close: () => bench.close(), hangsAfter: 120 });
}

interface Calls {
  readonly takeRound: TakeRound;
  close(): Promise<void>;
}

async function planterIn(
  home: string,
  open: (root: string) => Promise<Calls>,
  { close, hangsAfter }: { close(): Promise<void>; readonly hangsAfter: number },
): Promise<Planter> {
  const template = join(home, 'template');
  const commits = makeTemplate(template, home);
  const counter = await countConnections();
  let count = 0;
  return {
    async plant(plan) {
      const name = `p${count++}`;
      const root = join(home, name);
      setUpPerson(plan.person, template, root, home, commits);
      const sentinels = new Sentinels(
        home,
        name,
        plan.shapes.map((_, at) => `s${at}`),
      );
      const places = plan.shapes.map((_, at) => placeOf(home, name, `s${at}`, sentinels, commits, counter.port));
      prepare(plan.shapes, places, home);
      sentinels.begin();
      const calls = await open(root);
      try {
        const rounds = Math.max(...plan.shapes.map((shape) => shape.calls.length));
        for (let round = 0; round < rounds; round++) await calls.takeRound(root, callsOf(plan.shapes, places, round));
      } finally {
        await calls.close();
      }
      let requests: string[] = [];
      const onUnasked = (): void => {
        requests = [...counter.requests, ...sshConnections(home)];
      };
      const stuck = await useGit(root, { home, hangsAfter, onUnasked });
      const connected = [...places.entries()].filter(([, { id }]) => requests.some((text) => text.includes(id)));
      const fired: Fired[] = [
        ...sentinels.fired().map(({ name: shape, how }) => ({ at: Number(shape.slice(1)), how })),
        ...connected.map(([at]) => ({ at, how: 'connected' as const })),
        ...stuck.flatMap(({ dir, how }) => shapesIn(relative(root, dir), plan.shapes).map((at) => ({ at, how }))),
      ];
      for (const dir of [name, `${name}.marks`, `${name}.outside`])
        rmSync(join(home, dir), { recursive: true, force: true });
      return fired;
    },
    async close() {
      await counter.close();
      await close();
    },
  };
}

/** The shape of a directory. In the project itself, every shape that can keep git waiting may be the cause. */
function shapesIn(dir: string, shapes: readonly Shape[]): number[] {
  const at = /^s(\d+)(?:\/|$)/.exec(dir)?.[1];
  if (at !== undefined) return [Number(at)];
  return [...shapes.keys()].filter((one) =>
    shapes[one]?.families.some((family) => family === 'pipe' || family === 'stale lock'),
  );
}

function placeOf(
  home: string,
  project: string,
  name: string,
  sentinels: Sentinels,
  commits: Commits,
  port: number,
): Place {
  return {
    root: join(home, project),
    name,
    mark: sentinels.markOf(name),
    canary: sentinels.canaryOf(name),
    outside: sentinels.outsideOf(name),
    outsideRelative: `../../${project}.outside/${name}`,
    trap: sentinels.trapOf(name),
    trapRelative: `../../${project}.marks/${name}.git`,
    port,
    id: `of-${project}-${name}-`,
    commits,
  };
}

/** Makes what the person had before: the directory of each shape, some with a clone or a worktree. */
function prepare(shapes: readonly Shape[], places: readonly Place[], home: string): void {
  for (const [at, place] of places.entries()) {
    mkdirSync(join(place.root, place.name), { recursive: true });
    const script = shapes[at]?.prepare ?? null;
    if (script !== null) onHost(fill(script, place), place.root, home);
  }
}

function callsOf(shapes: readonly Shape[], places: readonly Place[], round: number): RoundCall[] {
  return shapes.flatMap((shape, at) => {
    const [call, place] = [shape.calls[round], places[at]];
    return call === undefined || place === undefined ? [] : [{ ...call, place }];
  });
}

async function openCalls(bench: Bench, root: string): Promise<Calls> {
  const policy = bench.policy({ workspace: { path: root, layer: null } });
  const tools = openToolRunner(bench, { policyFor: () => policy });
  return {
    async takeRound(_, calls) {
      const written = calls.filter(({ by }) => by === 'safe_write');
      await Promise.all(
        written.map(async ({ steps, place }) => {
          for (const step of steps) await writeByTool(tools, root, step, place);
        }),
      );
      const script = calls.map(({ by, steps, place }) =>
        scriptOf(by === 'safe_bash' ? steps : steps.flatMap(rest), place),
      );
      await runInSandbox(bench, policy, script.join('\n'));
    },
    async close() {
      await settle(bench.sandbox, policy);
      await tools.close();
    },
  };
}

/** Makes with safe_write what it can make: a file, or a directory with a file in it. It may refuse. */
async function writeByTool(tools: ToolRunner, root: string, step: Step, place: Place): Promise<void> {
  if (!isWritten(step)) return;
  const path = locate(step.path, place);
  const input =
    step.do === 'mkdir'
      ? { path: `${path}/keep`, content: '' }
      : { path, content: fill(step.text, place), mode: step.append ? 'append' : 'overwrite' };
  await refusable(tools.core('safe_write', input, { session: sessionOf(root) }));
}

/** Returns the steps that safe_write can take: it makes no links and no programs. */
function rest(step: Step): Step[] {
  if (!isWritten(step)) return [step];
  return step.do === 'write' && step.executable ? [{ ...step, text: '', append: true }] : [];
}

/** A file loses its other hard links when safe_write replaces it. */
function isWritten(step: Step): step is Step & { do: 'write' | 'mkdir' } {
  return step.do === 'mkdir' || (step.do === 'write' && !step.inPlace);
}

async function runInSandbox(bench: Bench, policy: SandboxPolicy, script: string): Promise<void> {
  await refusable(bench.bash(script, { cwd: policy.workspace.path }, policy));
}

async function refusable(call: Promise<unknown>): Promise<void> {
  await call.catch((cause: unknown) => {
    if (!(cause instanceof ContextdError)) throw cause;
  });
}
