/** The optional module of Content Credentials (C2PA manifests). Only `app.ts` imports it. */
export { checkContentCredentials, createContentCredentials, findSigningIdentity } from './content-credentials.ts'
export { readManifest } from './read-manifest.ts'
export { hasSignedCopy } from './signed-copies.ts'

export const loadApi = () => import('./content-credentials.rest.ts')
