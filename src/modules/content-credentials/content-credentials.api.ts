/** REST routes of Content Credentials. */
export { contentCredentialsRoutes as routes } from './content-credentials.rest.ts'
export { createSignedFileRoutes as createDirectRoutes } from './signed-files.rest.ts'
