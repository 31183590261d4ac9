import { expect, it } from 'vitest'
import { createClientAddress } from '../../../src/http/create-context.ts'

const ask = (remoteAddress: string | undefined, forwarded: string | undefined, trustedProxies: string[]) =>
  createClientAddress({ trustedProxies })({
    socket: { remoteAddress },
    headers: { 'x-forwarded-for': forwarded },
  } as never)

const proxies = ['10.0.0.0/8', '192.0.2.7', '2001:db8:ff::/48']

it.each([
  ['ignores the header if no proxy is trusted', '198.51.100.1', '203.0.113.9', [], '198.51.100.1'],
  ['ignores the header from an untrusted client', '198.51.100.1', '203.0.113.9', proxies, '198.51.100.1'],
  ['uses the address of a trusted proxy that sends no header', '10.0.0.1', undefined, proxies, '10.0.0.1'],
  ['uses the client address that a trusted proxy reports', '10.0.0.1', '203.0.113.9', proxies, '203.0.113.9'],
  ['ignores forged entries before the client address', '10.0.0.1', '1.1.1.1, 203.0.113.9', proxies, '203.0.113.9'],
  ['skips several trusted proxies', '10.0.0.1', '203.0.113.9, 192.0.2.7, 10.9.9.9', proxies, '203.0.113.9'],
  ['does not trust an address next to a single trusted address', '192.0.2.8', '203.0.113.9', proxies, '192.0.2.8'],
  ['uses the address of a client inside the trusted network', '10.0.0.1', '10.2.3.4', proxies, '10.2.3.4'],
  ['uses the address of the proxy if the header is invalid', '10.0.0.1', '203.0.113.9, unknown', proxies, '10.0.0.1'],
  ['uses the address of the proxy if the header is empty', '10.0.0.1', '', proxies, '10.0.0.1'],
  ['removes the port from an IPv4 address', '10.0.0.1', '203.0.113.9:4711', proxies, '203.0.113.9'],
  ['removes the port from an IPv6 address', '10.0.0.1', '[2001:db8::1]:4711', proxies, '2001:db8:0:0:0:0:0:1'],
  ['trusts a proxy with an IPv6 address', '2001:db8:ff::1', '203.0.113.9', proxies, '203.0.113.9'],
  ['trusts a proxy with an IPv4-mapped IPv6 address', '::ffff:10.0.0.1', '::ffff:203.0.113.9', proxies, '203.0.113.9'],
  ['converts an IPv4-mapped IPv6 address to IPv4', '::ffff:198.51.100.1', undefined, [], '198.51.100.1'],
  ['normalizes an IPv6 address', '10.0.0.1', '2001:DB8:0::0001', proxies, '2001:db8:0:0:0:0:0:1'],
  ['does not accept a plain number as an address', '10.0.0.1', '3232235777', proxies, '10.0.0.1'],
  ['returns an empty address if the connection is closed', undefined, '203.0.113.9', proxies, ''],
])('client address: %s', (_what, remote, forwarded, trusted, address) => {
  expect(ask(remote, forwarded, trusted)).toBe(address)
})
