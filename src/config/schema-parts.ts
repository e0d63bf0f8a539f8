/*
 * The shapes of which the schema of the settings is made. Each names its default and what the setting means.
 */

export function flag(standard: boolean, description: string) {
  return { type: 'boolean', default: standard, description } as const;
}

export function section<P extends object>(description: string, properties: P) {
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
