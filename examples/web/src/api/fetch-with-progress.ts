/**
 * `fetch`, by an XMLHttpRequest: only that tells how much of a body has left. `onProgress` gets a fraction from 0 to 1. Give it to
 * a mutation as `context.fetch`.
 */
export const fetchWithProgress =
  ({ onProgress, signal }: { onProgress: (fraction: number) => void; signal: AbortSignal }): typeof fetch =>
  (input, { method = 'GET', headers, body } = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open(method, input instanceof Request ? input.url : input)
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
      request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total)
      request.onload = () => {
        const type = request.getResponseHeader('Content-Type') ?? ''
        resolve(new Response(request.responseText, { status: request.status, headers: { 'Content-Type': type } }))
      }
      request.onerror = () => reject(new TypeError('The connection was lost.'))
      request.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'))
      signal.addEventListener('abort', () => request.abort())
      request.send(body as XMLHttpRequestBodyInit)
    })
