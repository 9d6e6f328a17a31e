// SPDX-License-Identifier: Apache-2.0
// The syntax of each language: one expression with a named group for each part, and the known
// words. Text without a match is plain.

export type Part = 'comment' | 'string' | 'number' | 'keyword' | 'type' | 'name';
export type LanguageName = 'c' | 'cpp' | 'fortran' | 'fixed' | 'asm';

export interface Language {
    /** Groups: parts, or `word`; `words` has the part of a word. */
    tokens: RegExp;
    words: ReadonlyMap<string, Part>;
    ignoresCase: boolean;
}

function words(lists: Partial<Record<Part, string>>): Map<string, Part> {
    return new Map(
        Object.entries(lists).flatMap(([part, list]) =>
            list.split(' ').map((word): [string, Part] => [word, part as Part]),
        ),
    );
}

const C_KEYWORDS =
    'auto break case const continue default do else enum extern for goto if inline register ' +
    'restrict return sizeof static struct switch typedef union volatile while true false NULL ' +
    '_Alignas _Alignof _Atomic _Generic _Noreturn _Pragma _Static_assert _Thread_local asm ' +
    '__asm__ __attribute__ __restrict __restrict__ __inline __inline__';
const C_TYPES =
    'bool char double float int long short signed unsigned void _Bool _Complex _Float16 complex ' +
    'size_t ssize_t ptrdiff_t intptr_t uintptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t ' +
    'uint32_t uint64_t __m128 __m128d __m128i __m256 __m256d __m256i __m512 __m512d __m512i ' +
    '__mmask8 __mmask16';
const CPP_KEYWORDS =
    'alignas alignof and catch class co_await co_return co_yield concept consteval constexpr ' +
    'constinit const_cast decltype delete dynamic_cast explicit export final friend module ' +
    'mutable namespace new noexcept not nullptr operator or override private protected public ' +
    'reinterpret_cast requires static_assert static_cast template this thread_local throw try ' +
    'typeid typename using virtual';
const FORTRAN_KEYWORDS =
    'abstract allocatable allocate assign associate asynchronous backspace bind block call case ' +
    'class close codimension common concurrent contains contiguous continue critical cycle data ' +
    'deallocate default deferred dimension do elemental else elseif elsewhere end endassociate ' +
    'endblock enddo endfile endforall endfunction endif endinterface endmodule endprogram ' +
    'endselect endsubroutine endtype endwhere entry enum enumerator equivalence exit extends ' +
    'external final flush forall format function generic goto if implicit import impure in inout ' +
    'include inquire intent interface intrinsic kind module namelist non_overridable none nopass ' +
    'nullify only open operator optional out parameter pass pause pointer print private ' +
    'procedure program protected public pure read recursive result return rewind save select ' +
    'sequence stop submodule subroutine target then to use value volatile wait where while write';
const FORTRAN_TYPES = 'character complex double integer logical precision real type';

const C_TOKENS = new RegExp(
    [
        String.raw`(?<comment>\/\/(?:\\\r?\n|.)*|\/\*[^]*?(?:\*\/|(?![^])))`,
        String.raw`(?<name>^[ \t]*#[ \t]*\w+)`,
        String.raw`(?<string>(?:u8|[uUL])?(?:` +
            String.raw`R"(?<delimiter>[^()\\\s]{0,16})\([^]*?(?:\)\k<delimiter>"|(?![^]))|` +
            String.raw`"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?))`,
        String.raw`(?<number>\.?\b\d(?:[eEpP][+-]|'?[\w.])*)`,
        String.raw`(?<word>[A-Za-z_]\w*)`,
    ].join('|'),
    'gm',
);

function fortranTokens(comment: string): RegExp {
    return new RegExp(
        [
            `(?<comment>${comment})`,
            String.raw`(?<name>^#\w+)`,
            String.raw`(?<string>"(?:""|[^"\n])*"?|'(?:''|[^'\n])*'?)`,
            String.raw`(?<keyword>\.[a-z]+\.)`,
            String.raw`(?<number>(?:\b\d+(?:\.(?![a-z]{2,}\.)\d*)?|\.\d+)` +
                String.raw`(?:[ed][+-]?\d+)?(?:_\w+)?)`,
            String.raw`(?<word>[a-z]\w*)`,
        ].join('|'),
        'gim',
    );
}

const REGISTER =
    String.raw`%?\b(?:[re]?(?:[abcd]x|[sd]i|[sb]p|ip)|[abcd][lh]|(?:[sd]i|[sb]p)l|` +
    String.raw`r(?:[89]|[12]\d|3[01])[bwd]?|` +
    String.raw`[xyz]mm\d{1,2}|k[0-7]|tmm[0-7]|st(?:\(\d\)|\d)?|mm[0-7]|[c-gs]s|bnd[0-3])\b`;

const ASM_TOKENS = new RegExp(
    [
        String.raw`(?<comment>\/\/.*|\/\*[^]*?(?:\*\/|(?![^]))|[#;].*)`,
        String.raw`(?<string>"(?:\\.|[^"\\\n])*"?)`,
        String.raw`(?<name>^[ \t]*[\w.$@]+:|\.[a-z]\w*)`,
        String.raw`(?<keyword>(?<=(?:^|:|;)[ \t]*)` +
            String.raw`(?:(?:lock|rep[nz]?e?|bnd|notrack|xacquire|xrelease)[ \t]+)*[a-z]\w*)`,
        `(?<type>${REGISTER})`,
        String.raw`(?<number>\$?-?\b(?:0x[\da-f]+|\d[\da-f]*h?)\b)`,
        String.raw`(?<word>[a-z_.$@][\w.$@]*)`,
    ].join('|'),
    'gim',
);

const fortran = words({ keyword: FORTRAN_KEYWORDS, type: FORTRAN_TYPES });

export const LANGUAGES: Readonly<Record<LanguageName, Language>> = {
    c: {
        tokens: C_TOKENS,
        words: words({ keyword: C_KEYWORDS, type: C_TYPES }),
        ignoresCase: false,
    },
    cpp: {
        tokens: C_TOKENS,
        words: words({ keyword: `${C_KEYWORDS} ${CPP_KEYWORDS}`, type: C_TYPES }),
        ignoresCase: false,
    },
    fortran: { tokens: fortranTokens('!.*'), words: fortran, ignoresCase: true },
    fixed: { tokens: fortranTokens('^[cd*].*|!.*'), words: fortran, ignoresCase: true },
    asm: { tokens: ASM_TOKENS, words: new Map(), ignoresCase: true },
};
