import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { readVariable } from '../../config/env.ts';
import { isWithin } from '../../core/paths.ts';
import type { NewUpstream__Output as NewUpstream } from '../../protocol/generated/management.ts';
import type { CliContext } from '../context.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { removeMember } from '../init/json-edit.ts';
import { type ClientServer, expandVariables, PERSONAL_FILES, PROJECT_FILES } from './client-files.ts';
import { newUpstream } from './new-upstream.ts';

/** A server that can be imported. */
export interface PlannedServer {
  readonly request: NewUpstream;
  /** Where it was found, for a person. */
  readonly from: string;
  /** Variables of the shell whose values the server gets. */
  readonly handedOver: readonly string[];
  /** The file below the project that loses it, and its place there; null for a file of the person, which stays as it is. */
  readonly cut: { readonly path: string; readonly keys: readonly string[] } | null;
}

export interface ImportPlan {
  readonly servers: readonly PlannedServer[];
  /** What is not imported, and why. */
  readonly skipped: readonly string[];
}

type HomeOf = { readonly env: Pick<CliContext['env'], 'home'> };

interface Place {
  /** As a person knows the file. */
  readonly shown: string;
  readonly client: string;
  /** Null: a file of the person. */
  readonly path: string | null;
}

/** What the hosts of package runners are called in `ctxd network groups`. */
const DOWNLOADS: Readonly<Record<string, string>> = { npx: 'npm', bunx: 'npm', uvx: 'pypi', pipx: 'pypi' };

/** Reads the files of all clients. `taken`: names of servers that the project has. `bound`: hosts with a credential. */
export function planImport(
  context: HomeOf,
  root: string,
  { taken, bound, by }: { taken: readonly string[]; bound: readonly string[]; by: string },
): ImportPlan {
  const servers: PlannedServer[] = [];
  const skipped: string[] = [];
  const names = new Set(taken);
  for (const [place, server] of foundServers(context, root, skipped)) {
    const name = nameOf(server.name);
    const { values, missing, taken: handedOver } = expandVariables(server.variables, readVariable);
    const why = names.has(name) ? `there is a server ${name} already` : whyNot(server, missing, bound);
    if (why !== null) {
      skipped.push(`${server.name} of ${place.shown}: ${why}`);
      continue;
    }
    names.add(name);
    const request = requestOf(server, { root, name, values, by });
    servers.push({ request, from: `${place.client}, ${place.shown}`, handedOver, cut: cutOf(place, server) });
  }
  return { servers, skipped };
}

/** A server as a file of a client has it, which starts it without a sandbox. */
export interface ServerInFile extends Pick<PlannedServer, 'cut'> {
  readonly client: string;
  /** As a person knows it. */
  readonly file: string;
}

/** Where clients have a server of this name. */
export function filesWith(context: HomeOf, root: string, name: string): ServerInFile[] {
  return foundServers(context, root, []).flatMap(([place, server]) =>
    nameOf(server.name) === name ? [{ client: place.client, file: place.shown, cut: cutOf(place, server) }] : [],
  );
}

function cutOf({ path }: Place, server: ClientServer): PlannedServer['cut'] {
  return path === null ? null : { path, keys: server.path };
}

/** The texts of the project's files without the servers; the others are left out. */
export function filesWithout(
  root: string,
  servers: readonly Pick<PlannedServer, 'cut'>[],
): { path: string; before: string; after: string }[] {
  const project = OwnedDirectory.at(root);
  const paths = [...new Set(servers.flatMap(({ cut }) => cut?.path ?? []))];
  return paths.flatMap((path) => {
    const found = project.inspect(path);
    if (found.kind !== 'file') return [];
    const cuts = servers.flatMap(({ cut }) => (cut?.path === path ? [cut.keys] : []));
    return [{ path, before: found.text, after: cuts.reduce(removeMember, found.text) }];
  });
}

function foundServers(context: HomeOf, root: string, skipped: string[]): [Place, ClientServer][] {
  const lists = [
    { directory: root, files: PROJECT_FILES, isOfProject: true },
    { directory: context.env.home, files: PERSONAL_FILES, isOfProject: false },
  ];
  return lists.flatMap(({ directory, files, isOfProject }) => {
    const owned = OwnedDirectory.at(directory);
    return files.flatMap(({ path, client, read }) => {
      const found = owned.inspect(path);
      if (found.kind !== 'file') return [];
      const place: Place = { shown: isOfProject ? path : `~/${path}`, client, path: isOfProject ? path : null };
      try {
        return read(found.text, root).map((server): [Place, ClientServer] => [place, server]);
      } catch (thrown) {
        skipped.push(
          `${place.shown}: it cannot be read (${thrown instanceof Error ? thrown.message : String(thrown)})`,
        );
        return [];
      }
    });
  });
}

/** A name that the namespace of a tool allows. */
function nameOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 32);
  return plain.replace(/-+$/, '') || 'server';
}

function whyNot({ url, headers }: ClientServer, missing: readonly string[], bound: readonly string[]): string | null {
  if (missing.length > 0) return `${missing.join(', ')} is not set in this shell`;
  if (headers.length === 0) return null;
  const { host = '' } = URL.parse(url) ?? {};
  if (bound.includes(host)) return null;
  return `it sends ${headers.join(', ')}; first bind the secret: ctxd network credential add ${host} --from env:NAME`;
}

function requestOf(
  { command, url, headers }: ClientServer,
  { root, name, values, by }: { root: string; name: string; values: Readonly<Record<string, string>>; by: string },
): NewUpstream {
  const group = DOWNLOADS[command[0] ?? ''];
  return newUpstream({
    root,
    name,
    by,
    command: [...command],
    url,
    variables: Object.entries(values).map(([variable, value]) => ({ name: variable, value, kept: false })),
    hosts: group === undefined ? [] : [group],
    project: placesIn(command).some((word) => isOfProject(word, root)) ? 'read' : 'none',
    header_from: headers.length === 0 ? '' : (URL.parse(url)?.host ?? ''),
  });
}

/** A program without a slash is looked up in the PATH. */
function placesIn([program = '', ...args]: readonly string[]): string[] {
  return program.includes('/') ? [program, ...args] : args;
}

/**
 * A client starts its servers in the project, so a relative path is a place there. A bare word, also after `=` as in
 * `--config=server.json`, is one only if there is such a file.
 */
function isOfProject(word: string, root: string): boolean {
  if (word === '.' || word.startsWith('./')) return true;
  if (isAbsolute(word)) return isWithin(root, resolve(word));
  return [word, word.slice(word.indexOf('=') + 1)].some((path) => {
    const whole = resolve(root, path);
    return isWithin(root, whole) && (statSync(whole, { throwIfNoEntry: false })?.isFile() ?? false);
  });
}
