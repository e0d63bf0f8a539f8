import type { AccessSettings, GatewaySettings } from '../config/gateway-schema.ts';
import type { CatalogTool } from './catalog.ts';
import { toolMatcher } from './tool-glob.ts';

type UsedTool = Pick<CatalogTool, 'manifest' | 'program'>;

/**
 * Which tools a caller may use in a project, by the settings of a person (`gateway.access`). What it may not use is on no list,
 * is found by no search and cannot be called.
 */
export class ToolAccess {
  readonly #settings: GatewaySettings['access'];
  readonly #rules = new Map<string, (tool: UsedTool) => boolean>();

  constructor(settings: GatewaySettings['access']) {
    this.#settings = settings;
  }

  mayUse(project: string, tool: UsedTool): boolean {
    const own = Object.hasOwn(this.#settings.projects, project) ? project : '';
    const rule = this.#rules.get(own) ?? ruleOf({ ...this.#settings, ...this.#settings.projects[own] });
    this.#rules.set(own, rule);
    return rule(tool);
  }
}

function ruleOf({ allow, deny, read_only: isReadOnly }: AccessSettings): (tool: UsedTool) => boolean {
  const allows = matcherOf(allow);
  const denies = matcherOf(deny);
  const byName = new Set(allow);
  return ({ manifest: { name, effects }, program }) => {
    if (denies(name) || !allows(name)) return false;
    if (!isReadOnly) return true;
    // What a server says of its own tools is not verified.
    return program.kind === 'upstream' ? byName.has(name) : effects.files !== 'write';
  };
}

function matcherOf(globs: readonly string[]): (name: string) => boolean {
  const matchers = globs.map(toolMatcher);
  return (name) => matchers.some((matches) => matches(name));
}
