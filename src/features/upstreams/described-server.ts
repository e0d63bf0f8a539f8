import type {
  NewUpstream__Output as NewUpstream,
  UpstreamInfo__Output as UpstreamInfo,
} from '../../protocol/generated/management.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import { targetOf } from './server-place.ts';

/** The fields that a person's request and every answer about the server share, with the same meaning in both. */
export type DescribedServer = Omit<Pick<UpstreamInfo & NewUpstream, keyof UpstreamInfo & keyof NewUpstream>, Differing>;

/** The request has the values of variables too. The answer also names the host of the URL. */
type Differing = 'variables' | 'hosts';

/** A server as a person described it. */
export function describedServer({
  name,
  spec,
  givenBy,
}: Pick<StoredServer, 'name' | 'spec' | 'givenBy'>): DescribedServer {
  return {
    name,
    command: [...spec.command],
    url: spec.url,
    paths: spec.paths.map(({ path, isWritable }) => ({ path, writable: isWritable })),
    project: spec.project,
    header_from: spec.usesCredential ? targetOf(spec.url) : '',
    by: givenBy,
    catalog: spec.catalogue?.path ?? '',
  };
}
