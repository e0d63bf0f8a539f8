import type { NewUpstream__Output as NewUpstream } from '../../protocol/generated/management.ts';

/** What a server gets if a person grants nothing. */
const NOTHING: Omit<NewUpstream, 'root' | 'name' | 'by'> = {
  command: [],
  url: '',
  variables: [],
  hosts: [],
  paths: [],
  project: 'none',
  header_from: '',
  dry_run: false,
  catalog: '',
  catalog_json: '',
  directory: '',
};

/** The request that adds a server, or a catalogue file, with what is given and nothing else. */
export function newUpstream(given: Pick<NewUpstream, 'root' | 'name' | 'by'> & Partial<NewUpstream>): NewUpstream {
  return { ...NOTHING, ...given };
}
