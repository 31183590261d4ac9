/**
 * Spellings of internal addresses as the host of a URL: loopback, other scripts and percent-encoding, private and reserved ranges, IPv6,
 * IPv4 addresses within IPv6 (mapped, compatible, translated, NAT64, 6to4, Teredo), and host names.
 */
export const internalHosts = `
  127.0.0.1 127.1 127.0.1 127.255.255.254 2130706433 0x7f000001 0x7f.1 0x7f.0.0.0x1 017700000001 0177.0.0.1
  0177.0.0.0x1 127.0.0.1. 0 0.0.0.0 0x0
  ①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 127．0．0．1 %31%32%37.0.0.1 127%2e0%2e0%2e1 𝟏𝟐𝟕.𝟎.𝟎.𝟏
  10.0.0.1 10.255.255.255 0xa000001 172.16.0.1 172.31.255.254 192.168.1.1 3232235777 100.64.0.1 100.100.100.200
  169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 192.0.0.192 192.0.2.1 198.18.0.1
  198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16
  [::1] [0:0:0:0:0:0:0:1] [0000::0001] [::] [fe80::1] [fec0::1] [fc00::1] [fd00:ec2::254] [fd20:ce::254] [ff02::1]
  [2001:db8::1] [3fff::1] [100::1]
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:169.254.169.254] [::ffff:0:127.0.0.1] [::127.0.0.1] [::7f00:1]
  [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b:1::a9fe:a9fe] [2002:7f00:1::] [2002:a9fe:a9fe::1]
  [2001:0:4136:e378:8000:63bf:3fff:fdd2]
  localhost LOCALHOST localhost. ⓛⓞⓒⓐⓛⓗⓞⓢⓣ app.localhost localhost.localdomain printer.local router.lan
  nas.home.arpa metadata metadata.google.internal metadata.google.internal. instance-data.ec2.internal
  metadata.tencentyun.com kubernetes.default.svc.cluster.local database
`
  .trim()
  .split(/\s+/)
