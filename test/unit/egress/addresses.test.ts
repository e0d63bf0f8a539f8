import { describe, expect, it } from 'vitest';
import { normalAddress, notPublic, REFUSED_IPV4 } from '#src/egress/addresses.js';

describe('an address', () => {
  const REFUSED = [
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:0808:0808',
    '::8.8.8.8',
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:0:1234::',
    '2001:1ff:ffff::',
    '2002:7f00:1::',
    '2002:0808:0808::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2600::1%eth0',
    'fec0::1',
    'ff02::1',
    '5f00::1',
    '4000::1',
    '1::1',
  ];
  for (const address of REFUSED)
    it(`${address} is not public`, () => {
      expect(notPublic(address)).not.toBeNull();
    });

  const PUBLIC = [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2600::1',
    '2a00:1450::1',
    '2001:200::1',
    '2001:4860:4860::8888',
    '64:ff9b::8.8.8.8',
  ];
  for (const address of PUBLIC)
    it(`${address} is public`, () => {
      expect(notPublic(address)).toBeNull();
    });

  it('of documentation is public, since mirrors of isolated networks use it', () => {
    for (const address of ['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1', '3fff::1'])
      expect(notPublic(address)).toBeNull();
  });

  it('is refused at both ends of every range, embedded in NAT64 too', () => {
    for (const { net, prefix } of REFUSED_IPV4) {
      const first = net.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
      for (const number of [first, first + 2 ** (32 - prefix) - 1]) {
        const address = [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
        expect(notPublic(address), address).not.toBeNull();
        expect(notPublic(`64:ff9b::${address}`), `64:ff9b::${address}`).not.toBeNull();
      }
    }
  });

  it('that cannot be read is refused', () => {
    for (const text of ['', 'example.com', '1.2.3', '08.8.8.8', '8.8.8.8 ', '1.2.3.4.5', ':::'])
      expect(notPublic(text)).toBe('not an address');
  });

  it('has one normal form', () => {
    expect(normalAddress('2001:DB8:0:0::1')).toBe('2001:db8::1');
    expect(normalAddress('192.0.2.1')).toBe('192.0.2.1');
    for (const text of ['fe80::1%eth0', '010.0.0.1', 'x', '1.2.3.4/8']) expect(normalAddress(text)).toBeNull();
  });
});
