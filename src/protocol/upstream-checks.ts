import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { NewUpstream__Output as NewUpstream } from './generated/management.ts';
import { withRoot } from './management-checks.ts';

// What is checked of requests about MCP servers: their size. The daemon reads the names.

const LIST_MAX = 200;
const TEXT_MAX_CHARS = 4_096;
const VALUE_MAX_CHARS = 32_768;

export function upstreamOf<Request extends { root: string; name: string }>(request: Request): Request {
  checkLength(request.name, TEXT_MAX_CHARS);
  return withRoot(request);
}

export function newUpstreamOf(request: NewUpstream): NewUpstream {
  const { command, url, variables, hosts, paths, project, header_from: headerFrom, by, catalog } = request;
  for (const list of [command, variables, hosts, paths])
    if (list.length > LIST_MAX) throw tooMuch(`${LIST_MAX} arguments, variables, hosts or paths`);
  const names = [...variables.map(({ name }) => name), ...hosts, ...paths.map(({ path }) => path)];
  for (const text of [...names, url, project, headerFrom, by, catalog]) checkLength(text, TEXT_MAX_CHARS);
  for (const text of [...command, ...variables.map(({ value }) => value)]) checkLength(text, VALUE_MAX_CHARS);
  return upstreamOf(request);
}

/** What a person granted, as it is on record: everything but the values of variables. */
export function grantOf({ name, command, url, variables, hosts, paths, project, ...more }: NewUpstream): JsonObject {
  return {
    name,
    ...(url === '' ? { command: [...command] } : { url }),
    variables: variables.map((one) => one.name),
    hosts: [...hosts],
    paths: paths.map(({ path, writable }) => (writable ? `${path}:rw` : path)),
    project,
    ...(more.header_from === '' ? {} : { header_from: more.header_from }),
    ...(more.catalog === '' ? {} : { catalog: more.catalog }),
    by: more.by,
  };
}

function checkLength(text: string, limit: number): void {
  if (text.length > limit) throw tooMuch(`${limit} characters in one text`);
}

function tooMuch(what: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `the description of an MCP server has more than ${what}`, {
    remedy: 'Write less.',
  });
}
