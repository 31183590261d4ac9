import type { DirectRequest } from './define-route.ts'
import { corsHeaders } from './rest-handler.ts'

/** Sends a JSON body with status 200, without the body for HEAD. */
export function sendJson({ req, res }: Pick<DirectRequest, 'req' | 'res'>, body: object): void {
  res.writeHead(200, { ...corsHeaders, 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache' })
  res.end(req.method === 'HEAD' ? undefined : JSON.stringify(body))
}
