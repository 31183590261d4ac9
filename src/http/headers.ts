/** Returns the media type of a `Content-Type` header in lower case and without parameters. Returns an empty text without a header. */
export const mediaTypeOf = (header: string | undefined): string => (header ?? '').split(';', 1)[0]!.trim().toLowerCase()

/** Returns whether `If-None-Match` names this entity tag. The comparison is weak, as RFC 9110 requires. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return header?.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag)) ?? false
}
