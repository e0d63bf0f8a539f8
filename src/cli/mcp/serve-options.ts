import { ContextdError } from '../../core/errors.ts';
import { isSurface, SURFACES, type Surface } from '../../core/surfaces.ts';

export interface ServeOptions {
  /** Undefined: the one that the settings name. */
  surface: Surface | undefined;
  /** A directory; undefined: the project that the client started the server in. */
  project: string | undefined;
  /** Undefined: the session of the environment. */
  session: string | undefined;
}

/** Throws ARGS_INVALID for a surface that does not exist. */
export function serveOptions(
  given: Partial<Record<'surface' | 'project' | 'session', string | undefined>>,
): ServeOptions {
  const { surface, project, session } = given;
  if (surface === undefined || isSurface(surface)) return { surface, project, session };
  throw new ContextdError('ARGS_INVALID', `there is no surface ${JSON.stringify(surface)}`, {
    remedy: `Pass --surface ${SURFACES.join(' or ')}.`,
  });
}

const OPTION_WORDS: Readonly<Record<string, 'surface' | 'project' | 'session'>> = {
  '--surface': 'surface',
  '--project': 'project',
  '--session': 'session',
};

/**
 * The options of a command line that the configuration of a client would have; null for every other one. Most of the time until
 * a client has its tools is loading, and the parser of `ctxd` loads every command.
 */
export function serveIn([command, name, ...words]: readonly string[]): ServeOptions | null {
  if (command !== 'mcp' || name !== 'serve' || words.length % 2 !== 0) return null;
  const given: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 2) {
    const [word = '', value = ''] = words.slice(at, at + 2);
    const option = OPTION_WORDS[word];
    if (option === undefined || value.startsWith('-')) return null;
    given[option] = value;
  }
  return given.surface === undefined || isSurface(given.surface) ? serveOptions(given) : null;
}
