/** The value of `settles`, or undefined after `timeoutMs`. */
export function within<T>(timeoutMs: number, settles: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  return Promise.race([settles, late]).finally(() => clearTimeout(timer));
}
