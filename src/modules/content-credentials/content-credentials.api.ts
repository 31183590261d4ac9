/** REST routes of Content Credentials. */
export {
  contentCredentialsRoutes as routes,
  createSignedFileRoutes as createDirectRoutes,
} from './content-credentials.rest.ts'
