/** Returns the media type of a `Content-Type` header in lower case and without parameters; empty without a header. Media types are case-insensitive. */
export const mediaTypeOf = (header: string | undefined): string => (header ?? '').split(';', 1)[0]!.trim().toLowerCase()
