/*
 * The shapes of which the schema of the settings is made. Each names its default and what the setting means.
 */

/** The value that a schema describes. A property with a default is present, because checking a value fills it in. */
export type Described<Schema> = Schema extends { enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { type: 'array'; items: infer Item }
    ? Described<Item>[]
    : Schema extends { patternProperties: Readonly<Record<string, infer Value>> }
      ? Record<string, Described<Value>>
      : Schema extends { properties: object }
        ? ObjectOf<Schema>
        : Schema extends { type: keyof Plain }
          ? Plain[Schema['type']]
          : Schema extends { type: readonly (infer Type extends keyof Plain)[] }
            ? Plain[Type]
            : never;

interface Plain {
  boolean: boolean;
  integer: number;
  number: number;
  string: string;
  null: null;
}

type ObjectOf<Schema extends { properties: object }> = {
  [Name in keyof Schema['properties'] & Present<Schema>]: Described<Schema['properties'][Name]>;
} & {
  [Name in Exclude<keyof Schema['properties'], Present<Schema>>]?: Described<Schema['properties'][Name]>;
};

type Present<Schema extends { properties: object }> =
  | {
      [Name in keyof Schema['properties']]: Schema['properties'][Name] extends { default: unknown } ? Name : never;
    }[keyof Schema['properties']]
  | (Schema extends { required: readonly (infer Name)[] } ? Name : never);

export function flag(standard: boolean, description: string) {
  return { type: 'boolean', default: standard, description } as const;
}

export function section<const P extends object>(description: string, properties: P) {
  return { type: 'object', description, additionalProperties: false, default: {}, properties } as const;
}

export function whole(standard: number, minimum: number, maximum: number, description: string) {
  return { type: 'integer', default: standard, minimum, maximum, description } as const;
}

/** A text that may be missing. */
export function optional<P extends string>(pattern: P, description: string) {
  return { type: ['string', 'null'], default: null, pattern, description } as const;
}

/** Different texts, at most `maxItems`. */
export function names<P extends string, S extends readonly string[]>(
  pattern: P,
  standard: S,
  description: string,
  maxItems: number,
) {
  return {
    type: 'array',
    items: { type: 'string', pattern },
    uniqueItems: true,
    maxItems,
    default: standard,
    description,
  } as const;
}
