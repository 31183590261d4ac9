import type { DirectRequest } from './define-route.ts'
import { corsHeaders } from './rest-handler.ts'

/** Sends a JSON body with status 200. */
export function sendJson({ reply }: Pick<DirectRequest, 'reply'>, body: object): void {
  reply.headers({ ...corsHeaders, 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache' })
  reply.send(Buffer.from(JSON.stringify(body)))
}
