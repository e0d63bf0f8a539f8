import { ContextdError } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import {
  CLIENT_PLACES,
  clientMerges,
  findOtherClients,
  OTHER_CLIENTS,
  type OtherClient,
  recordedClients,
} from '../init/clients/other-clients.ts';
import { readManifest } from '../init/manifest.ts';
import { type Addition, holdsAddition } from '../init/merged-file.ts';
import { findProjectRoot } from '../project-root.ts';
import type { Check } from '../render.ts';
import { ok, warn } from './check.ts';

/** What is set for the clients beside Claude Code and OpenCode that show themselves here. No check if none does. */
export async function checkOtherClients(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  const manifest = root === undefined ? undefined : await readManifest(context.paths.projectsDir, root);
  if (root === undefined || manifest === undefined) return [];
  const present = findOtherClients(root, context.env);
  const recorded = recordedClients(manifest.merges);
  const project = OwnedDirectory.at(root);
  return OTHER_CLIENTS.flatMap((name) => {
    if (recorded.includes(name)) return [checkClient(name, project, context)];
    return present.includes(name) ? [notSetUp(name)] : [];
  });
}

function notSetUp(name: OtherClient): Check {
  const detail = `${CLIENT_PLACES[name].title} is used here, and its tools pass contextd by`;
  return warn('client', detail, `Run \`ctxd init --client ${name}\`.`);
}

function checkClient(name: OtherClient, project: OwnedDirectory, { paths }: CliContext): Check {
  const { title, covers, nextStep } = CLIENT_PLACES[name];
  const changed = [...clientMerges(name, project.path, paths.proxyBinary)].filter((one) => !isThere(project, one));
  if (changed.length === 0) return ok('client', `${title}: ${covers} (${nextStep})`);
  const files = changed.map(([path]) => path).join(', ');
  const detail = `${title}: ${files} lacks what \`ctxd init\` adds`;
  return warn('client', detail, `Run \`ctxd init --client ${name}\`.`);
}

function isThere(project: OwnedDirectory, [path, addition]: readonly [string, Addition]): boolean {
  try {
    const found = project.inspect(path);
    return found.kind === 'file' && holdsAddition(found.text, addition);
  } catch (error) {
    if (error instanceof ContextdError || error instanceof SyntaxError) return false;
    throw error;
  }
}
