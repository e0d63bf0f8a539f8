import { posix } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { type GitSource, parseSource } from '../source.ts';
import type { Repository } from './git-repository.ts';
import type { GitFile } from './git-tree.ts';
import { shown } from './names.ts';

/** A repository that another one brings, at the commit that it names. */
export interface Submodule {
  source: GitSource;
  /** Its place in the tool. */
  prefix: string;
}

/** Reads `.gitmodules` for the submodules `links`, whose paths are relative to the folder of the tool. */
export async function readSubmodules(
  repository: Repository,
  commit: string,
  source: GitSource,
  links: readonly GitFile[],
  prefix: string,
): Promise<Submodule[]> {
  const settings = await repository.readConfig(`${commit}:.gitmodules`);
  const valuesOf = (name: string): Map<string, string> =>
    new Map(
      settings.flatMap(({ key, value }) =>
        key.startsWith('submodule.') && key.endsWith(`.${name}`) ? [[key.slice(0, -name.length), value]] : [],
      ),
    );
  const [paths, urls] = [valuesOf('path'), valuesOf('url')];
  return links.map(({ path, id }) => {
    const inRepository = source.sub === '' ? path : `${source.sub}/${path}`;
    const [key] = [...paths].find(([, value]) => value.replace(/\/+$/, '') === inRepository) ?? [''];
    return { source: moduleSource(source, path, urls.get(key) ?? '', id), prefix: `${prefix}${path}` };
  });
}

function moduleSource(parent: GitSource, path: string, url: string, commit: string): GitSource {
  try {
    const absolute = /^\.{1,2}\//.test(url) ? relativeTo(parent.url, url) : url;
    const source = parseSource(`git::${absolute.replaceAll(/[?]/g, '%3F')}?ref=${commit}`, '/');
    // A repository from elsewhere must not make this machine read its own files.
    if (
      source.kind === 'git' &&
      source.sub === '' &&
      (protocol(source.url) !== 'file' || protocol(parent.url) === 'file')
    )
      return { ...source, submodules: true, lfs: parent.lfs };
  } catch (thrown) {
    if (!(thrown instanceof ContextdError)) throw thrown;
  }
  throw new ContextdError(
    'PERMISSION_DENIED',
    `the submodule ${path} comes from ${shown(url)}, which contextd does not fetch`,
    {
      remedy: 'Ask the author of the tool for an https or ssh address in .gitmodules.',
    },
  );
}

function protocol(url: string): string {
  return /^([a-z]+):\/\//.exec(url)?.[1] ?? 'ssh';
}

function relativeTo(base: string, url: string): string {
  const [, place = '', path = ''] = /^([a-z]+:\/\/[^/]*|[^/:]+:)(.*)$/.exec(base) ?? [];
  return `${place}${posix.join(path, url)}`;
}
