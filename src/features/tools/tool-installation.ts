import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hashFiles, publishBundle } from '../../catalog/bundle.ts';
import { describeGrants } from '../../catalog/describe-grants.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { newShortId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { type CheckedTool, checkTool } from '../../install/check-tool.ts';
import { fetchTool } from '../../install/fetch.ts';
import { FETCH_LIMITS } from '../../install/limits.ts';
import type { ExpectedVersion, FetchedSignature, FetchedTool, TrustedSigners } from '../../install/messages.ts';
import { publisherOf } from '../../install/publisher.ts';
import { type FetchSource, formatSource, parseSource } from '../../install/source.ts';
import type {
  InstallRequest__Output as InstallRequest,
  ToolInfo__Output as ToolInfo,
  ToolPlan__Output as ToolPlan,
} from '../../protocol/generated/management.ts';
import type { Management, RpcHandlers, SendInstallEvent } from '../../protocol/management-contract.ts';
import type { AcceptedTool } from '../../stores/projects.ts';
import type { ToolOriginFacts } from '../../stores/tool-versions.ts';
import { requireProject } from '../projects/require-project.ts';
import { projectTools, type ToolManagementDeps } from './management.ts';

export interface ToolInstallationDeps extends ToolManagementDeps {
  paths: { toolsDir: string; stagingDir: string };
  config: Config['install'];
  /** PATH and home of the daemon's user. */
  environment: { path: string; home: string };
  clock: Clock;
}

type ToolInstallation = Pick<Management, 'installTool'> & Pick<RpcHandlers, 'acceptTool'>;

/** A tool that was fetched and waits for a person's answer. */
interface Offer {
  root: string;
  tool: CheckedTool;
  origin: ToolOriginFacts;
  plan: ToolPlan;
  /** Called when the project has it. */
  taken(): void;
}

/**
 * Brings tools of others into projects. A tool is fetched into a directory of its own and offered; only an answer makes it
 * one of the bundles that tools run from. The directory is removed when the request that fetched it ends, however it ends.
 */
export function createToolInstallation(deps: ToolInstallationDeps): ToolInstallation {
  const offers = new Set<Offer>();
  return {
    async installTool(request, signal, send) {
      const { root } = request;
      await requireProject(root, deps.projects);
      const staging = join(deps.paths.stagingDir, newShortId());
      try {
        await mkdir(staging, { recursive: true, mode: 0o700 });
        const source = sourceOf(request);
        const fetched = await fetchTool(source, {
          into: staging,
          signal,
          limits: FETCH_LIMITS,
          expected: expectedOf(request),
          credentials: { ...request.variables, PATH: deps.environment.path, HOME: deps.environment.home },
          signers: await signersOf(deps.config),
          requireSignature: deps.config.require_signature,
          onProgress: ({ total_bytes, ...progress }) =>
            send({ progress: { ...progress, total_bytes: total_bytes ?? 0 } }),
        });
        const tool = await checkTool(fetched.dir, {
          countTokens: (text) => deps.counter.count(text),
          searchPath: deps.environment.path,
        });
        const origin = originOf(source, fetched);
        const plan = await planFor(root, tool, origin, deps);
        await answered({ root, tool, origin, plan }, { offers, signal, send });
        return {};
      } finally {
        await rm(staging, { recursive: true, force: true });
      }
    },
    async acceptTool({ root, bundle_sha256: sha256, unattended }, record) {
      const offer = [...offers].find((one) => one.root === root && one.tool.bundleSha256 === sha256);
      if (offer === undefined) {
        throw new ContextdError('EXPIRED', 'the tool is no longer offered: the request that fetched it has ended', {
          remedy: 'Run `ctxd tool install` again.',
        });
      }
      record.note({ input: inputOf(offer) });
      if (unattended) checkCeiling(offer, deps.config.yes_grants);
      await take(offer, deps);
      offer.taken();
      return projectTools(root, deps);
    },
  };
}

/** What the audit log says of an installation. */
function inputOf({ tool, origin, plan }: Offer): JsonObject {
  const { name, version, grants } = tool.manifest;
  return { name, version, source: origin.source, commit: origin.commit, state: plan.state, grants };
}

/** Offers the tool, and waits until it is taken. Throws CANCELLED if the caller leaves first. */
async function answered(
  offer: Omit<Offer, 'taken'>,
  { offers, signal, send }: { offers: Set<Offer>; signal: AbortSignal; send: SendInstallEvent },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const held: Offer = { ...offer, taken: resolve };
  const leave = (): void => reject(new ContextdError('CANCELLED', 'the installation was cancelled'));
  offers.add(held);
  signal.addEventListener('abort', leave, { once: true });
  try {
    if (signal.aborted) leave();
    send({ plan: offer.plan }, 'vital');
    await promise;
  } finally {
    offers.delete(held);
    signal.removeEventListener('abort', leave);
  }
}

/** Makes the bundle one that tools run from, then lets the project use it: what a person granted is the last thing written. */
async function take({ root, tool, origin, plan }: Offer, deps: ToolInstallationDeps): Promise<void> {
  const { name, grants } = tool.manifest;
  const bundleSha256 = await publishBundle(tool.dir, deps.paths.toolsDir);
  if (bundleSha256 !== tool.bundleSha256) {
    throw new ContextdError('INTEGRITY_FAILED', `the files of ${name} changed after they were checked`, {
      remedy: 'Run `ctxd tool install` again.',
    });
  }
  const accepted: AcceptedTool = { name, bundleSha256, origin: 'installed', grants };
  const version = { project: root, name, bundleSha256, grants, ...origin, acceptedMs: deps.clock.now() };
  const replaced = (held: readonly AcceptedTool[]) => [...held.filter((one) => one.name !== name), accepted];
  // The same bytes from the same source are no new version; from another ref, the new source is the one to update from.
  const history = plan.state === 'same' ? [] : deps.toolVersions.add(version);
  await deps.projects.change(root, replaced, history);
  await deps.installed.refresh();
}

/** What the project would get. Throws CONFLICT if it has a tool of this name from elsewhere. */
async function planFor(
  root: string,
  tool: CheckedTool,
  origin: ToolOriginFacts,
  deps: ToolInstallationDeps,
): Promise<ToolPlan> {
  const { name, grants } = tool.manifest;
  const { tools } = await projectTools(root, deps);
  const before = tools.find((one) => one.name === name) ?? null;
  const from = before?.installed_from ?? null;
  if (from !== null && publisherOf(from.source) !== publisherOf(origin.source)) {
    throw new ContextdError('CONFLICT', `${root} has a tool ${name} from ${from.source}`, {
      remedy: `Two tools cannot have one name. To replace it: ctxd tool remove ${name}, then install again.`,
    });
  }
  // From elsewhere, or signed otherwise, it may be the work of somebody else, to whom nothing was granted.
  const isMoved = before !== null && (from?.source !== origin.source || isSignedOtherwise(from, origin));
  const held = isMoved ? [] : (before?.grants ?? []);
  const newGrants = grants.filter((grant) => !held.includes(grant));
  return {
    tool: infoOfChecked(tool, origin),
    state: before === null ? 'new' : before.bundle_sha256 === tool.bundleSha256 && !isMoved ? 'same' : 'update',
    grant_words: describeGrants(tool.manifest),
    new_grants: newGrants,
    before,
    ...(await fileChanges(tool, before, deps.paths.toolsDir)),
    schema_changed: before !== null && before.schema_json !== tool.schemaJson,
    files: tool.files.size,
    bytes: tool.bytes,
  };
}

/** True if the version before was signed, and this one is not, or by somebody else. */
function isSignedOtherwise(before: ToolInfo['installed_from'], { signer }: ToolOriginFacts): boolean {
  return before !== null && before.signer !== '' && before.signer !== signer;
}

function sourceOf({ source: text, cwd, submodules, lfs }: InstallRequest): FetchSource {
  const source = parseSource(text, cwd);
  if (source.kind === 'git') return { ...source, submodules: source.submodules || submodules, lfs: source.lfs || lfs };
  if (!submodules && !lfs) return source;
  throw new ContextdError('ARGS_INVALID', '--submodules and --lfs are for repositories of git', {
    remedy: 'Leave them out.',
  });
}

function expectedOf({ commit, archive_sha256: sha256 }: InstallRequest): ExpectedVersion {
  return { ...(commit === '' ? {} : { commit }), ...(sha256 === '' ? {} : { sha256 }) };
}

function originOf(source: FetchSource, { resolved, signature }: FetchedTool): ToolOriginFacts {
  const { commit = '', sha256: archiveSha256 = '' } = resolved;
  return {
    source: formatSource(source),
    commit,
    archiveSha256,
    signer: signature === null ? '' : signerText(signature),
  };
}

function signerText({ kind, identity, issuer, trusted }: FetchedSignature): string {
  const who = issuer === null ? `${identity} (${kind})` : `${identity} (${kind}, ${issuer})`;
  return trusted ? who : `${who}, who is not in install.trusted_keys`;
}

/** `trusted_keys` as the configuration has them: keys of minisign, and `sigstore:ISSUER|IDENTITY`. */
async function signersOf({ trusted_keys: keys, sigstore_root: root }: Config['install']): Promise<TrustedSigners> {
  const sigstore = keys.flatMap((key) => {
    const [, issuer, identity] = /^sigstore:([^|]+)\|(.+)$/.exec(key) ?? [];
    return issuer === undefined || identity === undefined ? [] : [{ issuer, identity }];
  });
  const minisign = keys.filter((key) => !key.startsWith('sigstore:')).map((key) => ({ name: key, key }));
  return { minisign, sigstore, trusted_root: root === null ? null : await readRoot(root) };
}

async function readRoot(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = isErrno(cause) ? ` (${cause.code})` : '';
    throw new ContextdError('SCHEMA_INVALID', `install.sigstore_root is ${path}, which cannot be read${why}`, {
      remedy: 'Name the trusted_root.json of your instance, or `ctxd config unset install.sigstore_root`.',
      cause,
    });
  }
}

/** True if the ceiling names the grant, or a beginning of it with `*`. */
function isBelow(grant: string, ceiling: readonly string[]): boolean {
  return ceiling.some((one) => (one.endsWith('*') ? grant.startsWith(one.slice(0, -1)) : grant === one));
}

/** Throws PERMISSION_DENIED for a new grant, or the loss of a signature, that only a person may agree to. */
function checkCeiling({ plan, origin }: Offer, ceiling: readonly string[]): void {
  const { tool, before, new_grants: grants } = plan;
  const from = before?.installed_from ?? null;
  if (isSignedOtherwise(from, origin)) {
    const now = origin.signer === '' ? 'not signed' : `signed by ${origin.signer}`;
    throw new ContextdError(
      'PERMISSION_DENIED',
      `--yes does not replace ${tool?.name}, which was signed by ${from?.signer}, by a version that is ${now}`,
      { remedy: 'A person answers at a terminal, after asking the author why.' },
    );
  }
  const above = grants.filter((grant) => !isBelow(grant, ceiling));
  if (above.length === 0) return;
  throw new ContextdError(
    'PERMISSION_DENIED',
    `--yes does not give ${tool?.name} what it asks for: ${above.join(', ')}`,
    {
      remedy:
        'A person answers at a terminal, or widens install.yes_grants with `ctxd config set install.yes_grants LIST`.',
    },
  );
}

async function fileChanges(
  { files }: CheckedTool,
  before: ToolInfo | null,
  toolsDir: string,
): Promise<Pick<ToolPlan, 'files_added' | 'files_removed' | 'files_changed'>> {
  // A bundle that is gone had no files that could be compared.
  const old =
    before === null
      ? new Map<string, string>()
      : await hashFiles(join(toolsDir, before.bundle_sha256)).catch(() => new Map<string, string>());
  const paths = [...files.keys()];
  return {
    files_added: paths.filter((path) => !old.has(path)),
    files_removed: [...old.keys()].filter((path) => !files.has(path)),
    files_changed: paths.filter((path) => old.has(path) && old.get(path) !== files.get(path)),
  };
}

function infoOfChecked(tool: CheckedTool, { source, commit, archiveSha256, signer }: ToolOriginFacts): ToolInfo {
  const { name, purpose, version, grants } = tool.manifest;
  return {
    name,
    purpose,
    version,
    grants: [...grants],
    origin: 'installed',
    bundle_sha256: tool.bundleSha256,
    schema_json: tool.schemaJson,
    tool_md: tool.toolMd,
    tool_extended_md: tool.toolExtendedMd,
    installed_from: { source, commit, archive_sha256: archiveSha256, signer },
    accepted_ms: 0,
    last_used: '',
    schema_tokens: tool.schemaTokens,
    state: '',
  };
}
