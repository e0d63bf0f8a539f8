import { parseSource } from './source.ts';

/** The last part of a path that names a version, such as `v1` or `2.0-beta`. A bare number may be that of an owner. */
const VERSION = /\/(?:v\d+|\d+\.\d+)[\w.+-]*$/;

/**
 * Who publishes what a source names, as a text to compare: all versions of one tool come from one publisher. A host or a
 * bucket has many owners, so it does not count. A repository and its releases are one publisher; elsewhere it is the
 * directory that holds the archive, without the version; on this machine the place itself.
 */
export function publisherOf(text: string): string {
  const source = parseSource(text, '/');
  switch (source.kind) {
    case 'git':
      return `${repositoryOf(source.url) ?? source.url}//${source.sub}`;
    case 'http':
      return `${repositoryOf(source.url) ?? directoryOf(source.url)}//${source.sub}`;
    case 's3':
      return `s3 ${source.endpoint ?? ''}/${directoryOf(`${source.bucket}/${source.key}`)}//${source.sub}`;
    case 'folder':
      return source.path;
    case 'archive':
      return `${directoryOf(source.path)}//${source.sub}`;
  }
}

/** The repository that a URL of a known host is in, whether it leads to git or to a release. */
function repositoryOf(url: string): string | null {
  const [, host, path = ''] = /^https:\/\/(github\.com|gitlab\.com)\/(.+)$/.exec(url) ?? [];
  if (host === undefined) return null;
  // GitLab ends the path of a project, which has any depth, by /-/.
  const project = host === 'github.com' ? path.split('/').slice(0, 2).join('/') : (path.split('/-/')[0] ?? '');
  return `${host}/${project.replace(/\.git$/, '')}`.toLowerCase();
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')).replace(VERSION, '');
}
