/** Whether `If-None-Match` names this entity tag, by the weak comparison that RFC 9110 asks for there: who sent it has this version already. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return header?.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag)) ?? false
}
