/** Where a server with this configuration answers on this machine. */
export function ownUrl({ host, port }: { host: string; port: number }): string {
  const bound = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${bound.includes(':') ? `[${bound}]` : bound}:${port}`
}
