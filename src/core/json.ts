/** Any JSON value. Wire data has this type until it is validated. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** True for text that must be a JSON object and is never taken as plain words. */
export function startsLikeJson(text: string): boolean {
  return /^\s*\{\s*["}]/.test(text);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON object that a text is; {} for any other text. */
export function jsonObjectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
