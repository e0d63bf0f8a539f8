/** The text of an answer over HTTP; throws what `tooLong` makes once it has more than `maxBytes`. */
export async function textOfAnswer(answer: Response, maxBytes: number, tooLong: () => Error): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
