import { expect, it } from 'vitest'
import { createClientAddress } from '../../../src/http/create-context.ts'

const ask = (remoteAddress: string | undefined, forwarded: string | undefined, trustedProxies: string[]) =>
  createClientAddress({ trustedProxies })({
    socket: { remoteAddress },
    headers: { 'x-forwarded-for': forwarded },
  } as never)

const proxies = ['10.0.0.0/8', '192.0.2.7', '2001:db8:ff::/48']

it.each([
  ['nobody is trusted, so the header says nothing', '198.51.100.1', '203.0.113.9', [], '198.51.100.1'],
  ['a stranger writes the header', '198.51.100.1', '203.0.113.9', proxies, '198.51.100.1'],
  ['a proxy of ours says nothing', '10.0.0.1', undefined, proxies, '10.0.0.1'],
  ['a proxy of ours tells its client', '10.0.0.1', '203.0.113.9', proxies, '203.0.113.9'],
  ['the client made up what stands left', '10.0.0.1', '1.1.1.1, 203.0.113.9', proxies, '203.0.113.9'],
  ['several proxies of ours stand in between', '10.0.0.1', '203.0.113.9, 192.0.2.7, 10.9.9.9', proxies, '203.0.113.9'],
  ['one of them is trusted by its very address only', '192.0.2.8', '203.0.113.9', proxies, '192.0.2.8'],
  ['the client itself is inside', '10.0.0.1', '10.2.3.4', proxies, '10.2.3.4'],
  ['the header holds no address', '10.0.0.1', '203.0.113.9, unknown', proxies, '10.0.0.1'],
  ['the header is empty', '10.0.0.1', '', proxies, '10.0.0.1'],
  ['the port is told, too', '10.0.0.1', '203.0.113.9:4711', proxies, '203.0.113.9'],
  ['the port is told, too, of IPv6', '10.0.0.1', '[2001:db8::1]:4711', proxies, '2001:db8:0:0:0:0:0:1'],
  ['the proxy came by IPv6', '2001:db8:ff::1', '203.0.113.9', proxies, '203.0.113.9'],
  ['the proxy wears the clothes of IPv6', '::ffff:10.0.0.1', '::ffff:203.0.113.9', proxies, '203.0.113.9'],
  ['IPv4 wears the clothes of IPv6', '::ffff:198.51.100.1', undefined, [], '198.51.100.1'],
  ['an address can be written in many ways', '10.0.0.1', '2001:DB8:0::0001', proxies, '2001:db8:0:0:0:0:0:1'],
  ['a number is no address', '10.0.0.1', '3232235777', proxies, '10.0.0.1'],
  ['the connection is gone', undefined, '203.0.113.9', proxies, ''],
])('%s', (_what, remote, forwarded, trusted, address) => {
  expect(ask(remote, forwarded, trusted)).toBe(address)
})
