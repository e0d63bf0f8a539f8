import type { AccessSettings, GatewaySettings } from '../config/gateway-schema.ts';
import type { CatalogTool } from './catalog.ts';
import { idOfKey, toolMatcher } from './tool-glob.ts';

type UsedTool = Pick<CatalogTool, 'manifest' | 'program'>;

/**
 * Which tools a caller may use in a project, by the settings of a person (`gateway.access`). What it may not use is on no list,
 * is found by no search and cannot be called.
 */
export class ToolAccess {
  readonly #settings: GatewaySettings['access'];
  readonly #rules = new Map<string, Rule>();

  constructor(settings: GatewaySettings['access']) {
    this.#settings = settings;
  }

  mayUse(project: string, { manifest: { name, effects }, program }: UsedTool): boolean {
    // What a server says of its own tools is not verified.
    return this.#may(project, [name], program.kind === 'upstream' ? null : effects.files !== 'write');
  }

  /**
   * `name`: the server, a colon, and `resources`, `prompts`, `completions` or `logging`. `id`: of one of them, which the rules may
   * name too; if any rule denies either it is denied.
   */
  mayUsePrimitive(project: string, name: string, id?: string): boolean {
    return this.#may(project, id === undefined ? [name] : [name, id], null);
  }

  #may(project: string, names: readonly string[], isReading: boolean | null): boolean {
    const own = Object.hasOwn(this.#settings.projects, project) ? project : '';
    const rule = this.#rules.get(own) ?? ruleOf({ ...this.#settings, ...this.#settings.projects[own] });
    this.#rules.set(own, rule);
    return rule(names, isReading);
  }
}

/** `names`: all of the same thing. `isReading`: whether it changes no file; null if that is not verified. */
type Rule = (names: readonly string[], isReading: boolean | null) => boolean;

function ruleOf({ allow, deny, read_only: isReadOnly }: AccessSettings): Rule {
  const allows = matcherOf(allow);
  // The numbers of the other entries would tell that one is hidden.
  const denies = matcherOf(deny.map(idOfKey));
  const byName = new Set(allow);
  return (names, isReading) => {
    if (names.some(denies) || !names.some(allows)) return false;
    if (!isReadOnly) return true;
    return isReading ?? names.some((name) => byName.has(name));
  };
}

function matcherOf(globs: readonly string[]): (name: string) => boolean {
  const matchers = globs.map(toolMatcher);
  return (name) => matchers.some((matches) => matches(name));
}
