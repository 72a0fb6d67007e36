; packet.uc: the fields of Ethernet, ARP, IPv4, TCP and UDP headers by name, and how to get at them.
;
; A field's name stands for where it is: ((bit offset from the start of its header) << 8) | (number of bits), bit 0 being the first on the
; wire. packet_get takes such a name and the byte offset of the header in a group of registers, so that a header may lie anywhere:
; packet_get(port, $$frame, 34, UDP_DESTINATION). Fields of more than 32 bits have two names, _HIGH and _LOW.

#ifndef _PACKET_UC_
#define _PACKET_UC_

#include "bits.uc"
#include "bytes.uc"

#define ETHERNET_BYTES              14
#define ETHERNET_DESTINATION_HIGH   0x0020
#define ETHERNET_DESTINATION_LOW    0x2010
#define ETHERNET_SOURCE_HIGH        0x3010
#define ETHERNET_SOURCE_LOW         0x4020
#define ETHERNET_TYPE               0x6010
#define ETHERNET_TYPE_IPV4          0x0800
#define ETHERNET_TYPE_ARP           0x0806

#define ARP_BYTES                   28
#define ARP_HARDWARE_TYPE           0x0010
#define ARP_PROTOCOL_TYPE           0x1010
#define ARP_HARDWARE_LENGTH         0x2008
#define ARP_PROTOCOL_LENGTH         0x2808
#define ARP_OPERATION               0x3010
#define ARP_SENDER_MAC_HIGH         0x4020
#define ARP_SENDER_MAC_LOW          0x6010
#define ARP_SENDER_IP               0x7020
#define ARP_TARGET_MAC_HIGH         0x9020
#define ARP_TARGET_MAC_LOW          0xb010
#define ARP_TARGET_IP               0xc020
#define ARP_REQUEST                 1
#define ARP_REPLY                   2

#define IPV4_BYTES                  20
#define IPV4_VERSION                0x0004
#define IPV4_HEADER_WORDS           0x0404
#define IPV4_TYPE_OF_SERVICE        0x0808
#define IPV4_TOTAL_LENGTH           0x1010
#define IPV4_IDENTIFICATION         0x2010
#define IPV4_FLAGS                  0x3003
#define IPV4_FRAGMENT_OFFSET        0x330d
#define IPV4_TIME_TO_LIVE           0x4008
#define IPV4_PROTOCOL               0x4808
#define IPV4_CHECKSUM               0x5010
#define IPV4_SOURCE                 0x6020
#define IPV4_DESTINATION            0x8020
#define IPV4_PROTOCOL_ICMP          1
#define IPV4_PROTOCOL_TCP           6
#define IPV4_PROTOCOL_UDP           17

#define TCP_BYTES                   20
#define TCP_SOURCE                  0x0010
#define TCP_DESTINATION             0x1010
#define TCP_SEQUENCE                0x2020
#define TCP_ACKNOWLEDGEMENT         0x4020
#define TCP_DATA_WORDS              0x6004
#define TCP_FLAGS                   0x6808
#define TCP_WINDOW                  0x7010
#define TCP_CHECKSUM                0x8010
#define TCP_URGENT                  0x9010

#define UDP_BYTES                   8
#define UDP_SOURCE                  0x0010
#define UDP_DESTINATION             0x1010
#define UDP_LENGTH                  0x2010
#define UDP_CHECKSUM                0x3010

; packet_get(dst, group, START, FIELD)
;   The value of a field in dst.
;   dst      a general purpose register
;   group    registers with the header in them
;   START    a constant: the byte of the group at which the header begins
;   FIELD    one of the names above
;   changes  dst, the condition codes
;   cost     packet_get(a, $r, 14, IPV4_TIME_TO_LIVE) after .set $r[5] -> 1 word, 1 cycle
;   cost     packet_get(a, $r, 14, IPV4_VERSION) after .set $r[3] -> 1 word, 1 cycle
;   cost     packet_get(a, $r, 14, IPV4_CHECKSUM) after .set $r[6] -> 1 word, 1 cycle
;   cost     packet_get(a, $r, 14, IPV4_FRAGMENT_OFFSET) after .set $r[5] -> 2 words, 2 cycles
;   cost     packet_get(a, $r, 14, IPV4_SOURCE) after .set $r[6] $r[7] -> 2 words, 2 cycles
#macro packet_get(dst, group, START, FIELD)
    #define_eval _PACKET_BIT ((START) * 8 + ((FIELD) >> 8))
    #define_eval _PACKET_BITS ((FIELD) & 0xff)
    #if (_PACKET_BIT % 8 == 0 && _PACKET_BITS == 32)
        bytes_get32(dst, group, (_PACKET_BIT / 8))
    #elif (_PACKET_BIT % 8 == 0 && _PACKET_BITS == 16)
        bytes_get16(dst, group, (_PACKET_BIT / 8))
    #elif (_PACKET_BIT % 8 == 0 && _PACKET_BITS == 8)
        bytes_get8(dst, group, (_PACKET_BIT / 8))
    #elif ((_PACKET_BIT % 32) + _PACKET_BITS <= 32)
        #define_eval _PACKET_LOW (32 - (_PACKET_BIT % 32) - _PACKET_BITS)
        bits_extract(dst, group[(_PACKET_BIT / 32)], _PACKET_LOW, _PACKET_BITS)
    #else
        bytes_get32(dst, group, (_PACKET_BIT / 8))
        #define_eval _PACKET_LOW (32 - (_PACKET_BIT % 8) - _PACKET_BITS)
        bits_extract(dst, dst, _PACKET_LOW, _PACKET_BITS)
    #endif
#endm

; packet_branch_if(group, START, FIELD, VALUE, label)
;   To label if the field has this value.
;   group    registers with the header in them
;   START    a constant: the byte of the group at which the header begins
;   FIELD    one of the names above
;   VALUE    a constant
;   label    a label
;   changes  the condition codes
;   cost     packet_branch_if($r, 14, IPV4_PROTOCOL, 6, elsewhere#) after .set $r[5] -> 1 word, 1 cycle
;   cost     packet_branch_if($r, 0, ETHERNET_TYPE, 0x0800, elsewhere#) after .set $r[3] -> 4 words, 4 cycles
#macro packet_branch_if(group, START, FIELD, VALUE, label)
    #define_eval _PACKET_BIT ((START) * 8 + ((FIELD) >> 8))
    #define_eval _PACKET_BITS ((FIELD) & 0xff)
    #if (_PACKET_BIT % 8 == 0 && _PACKET_BITS == 8)
        br=byte[group[(_PACKET_BIT / 32)], (3 - ((_PACKET_BIT / 8) & 3)), (VALUE), label]
    #else
        .begin
            .reg _packet_field _packet_value
            packet_get(_packet_field, group, START, FIELD)
            #if ((VALUE) >= 0 && (VALUE) <= 255)
                alu[--, _packet_field, -, (VALUE)]
            #else
                immediate(_packet_value, VALUE)
                alu[--, _packet_field, -, _packet_value]
            #endif
            beq[label]
        .end
    #endif
#endm

#endif
