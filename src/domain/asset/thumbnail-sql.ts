/** Which assets get a thumbnail, as parts of statements. */

/** Whether a file may be a picture, by its type; callers who know no better call everything a stream of octets. */
export const mayBePictureSql = (mimeType: string) => `${mimeType} ~* '^(image/(?!svg)|application/octet-stream)'`

/** Puts the making of a thumbnail into its queue. `asset` is an expression for the asset's id. */
export const askForThumbnailSql = (asset: string) => `enqueue('thumbnail', jsonb_build_object('assetId', ${asset}))`
