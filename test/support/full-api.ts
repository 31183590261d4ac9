/** The schema and the routes with all optional modules. */
import { loadModules } from '../../src/app.ts'
import { loadApi } from '../../src/http/create-routes.ts'

export const api = await loadApi(await loadModules())
export const { schema, routes } = api
