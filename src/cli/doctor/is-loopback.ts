import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Returns whether a host of a URL is this machine, which nothing on the network reads along with. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const family = isIP(name)
  if (family === 0) return /^(.+\.)?localhost$/i.test(name)
  return loopback.check(name, family === 4 ? 'ipv4' : 'ipv6')
}
